package org.example.shapes;

import java.util.List;
import static java.lang.Math.PI;

public abstract class Shapes {
    public static final int LIMIT = 100;
    private final String name;
    protected int a, b;

    public Shapes(String name) {
        this.name = name;
    }

    public abstract double area();

    @Override
    public String toString() {
        return name + ": " + area();
    }

    static <T extends Shapes> double measure(List<T> shapes) throws IllegalStateException {
        return shapes.stream().mapToDouble(Shapes::area).sum();
    }

    interface Named {
        int SIZE = 3;

        String name();
    }

    enum Kind {
        ROUND,
        SQUARE {
            @Override
            int sides() {
                return 4;
            }
        };

        int sides() {
            return 0;
        }
    }

    record Point(double x, double y) implements Named {
        Point {
            if (x < 0) throw new IllegalArgumentException();
        }

        public String name() {
            return "point";
        }
    }

    @interface Measured {
        String unit() default "m";
    }

    static class Circle extends Shapes {
        Circle() {
            super("circle");
        }

        public double area() {
            return PI;
        }
    }

    Object make() {
        return new Circle();
    }
}
