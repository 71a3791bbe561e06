package shapes

import (
	"fmt"
	m "math"
)

const Limit = 100

const (
	Round = iota
	Square
)

var cache = map[string]float64{}

// Shape is anything with an area.
type Shape interface {
	Area() float64
	fmt.Stringer
}

type Circle struct {
	Radius float64
	name   string
}

type (
	Pair[T any] struct {
		First, Second T
	}
	Side = float64
	Sides []float64
)

func NewCircle(radius float64) *Circle {
	return &Circle{Radius: radius}
}

func (c *Circle) Area() float64 {
	square := func(x float64) float64 { return x * x }
	return square(c.Radius) * m.Pi
}

func (c Circle) String() string {
	return fmt.Sprintf("%s: %f", c.name, c.Area())
}

func (p Pair[T]) Swap() Pair[T] {
	return Pair[T]{p.Second, p.First}
}

func Measure(shapes ...Shape) (total float64, err error) {
	const start = 0
	for _, shape := range shapes {
		total += shape.Area()
	}
	return total, nil
}
