"""Shapes and what they measure."""

from __future__ import annotations

import math as maths
from dataclasses import dataclass
from .units import Length, area as area_of

LIMIT = 100
_cache: dict[str, float] = {}
width, height = 3, 4

type Side = float


class Shape:
    """Anything with an area."""

    sides: int = 0

    def __init__(self, name: str, *, scale: float = 1.0) -> None:
        self.name = name
        self.scale = scale

    @property
    def label(self) -> str:
        return f"{self.name}: {self.area()}"

    def area(self) -> Length:
        raise NotImplementedError


@dataclass
class Circle(Shape):
    radius: float

    def area(
        self,
    ) -> float:
        def square(x):
            return x * x

        return maths.pi * square(self.radius)


async def measure(shapes: list[Shape]) -> float:
    total = 0
    for shape in shapes:
        total += shape.area()
    return min(total, LIMIT)


area = area_of
