//! Definitions and uses of names.

use haft_syntax::{Language, Limits, definitions, references};

use crate::rig::{defined, used};

#[test]
fn a_name_is_defined_wherever_it_stands() {
    insta::assert_snapshot!(defined(Language::Python, "area"), @r"
      29-30 method Shape.area | def area(self) -> Length
      37-43 method Circle.area | def area(self) -> float
    53 variable area | area = area_of
    ");
}

#[test]
fn a_qualified_name_is_defined_where_it_belongs() {
    for name in ["Circle.area", "Circle::area", "Circle#area"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(defined(Language::Rust, name), @"  52-57 method Circle.area | fn area(&self) -> f64");
        }
    }
    insta::assert_snapshot!(defined(Language::Cpp, "shapes::Box::get"), @r"
        25 method shapes.Box.get | T *get()
    64-67 method shapes.Box.get | T *shapes::Box<T>::get()
    ");
    assert_eq!(defined(Language::Rust, "ircle.area"), "");
    assert_eq!(
        defined(Language::JavaScript, "#count"),
        "  8 field Shape.#count | static #count = 0"
    );
}

#[test]
fn an_implementation_is_no_definition() {
    assert_eq!(defined(Language::Rust, "Circle"), "21-24 struct Circle | pub struct Circle<T>");
}

#[test]
fn what_nobody_defines_is_not_found() {
    let found = definitions(Language::Go, "package x\n", "Absent", &Limits::default()).unwrap();
    assert_eq!((found.items.len(), found.total), (0, 0));
}

#[test]
fn python_names_are_used() {
    insta::assert_snapshot!(used(Language::Python, "area"), @r#"
    7:28 import | from .units import Length, area as area_of
    27:37 call in Shape.label | return f"{self.name}: {self.area()}"
    49:24 call in measure | total += shape.area()
    "#);
    insta::assert_snapshot!(used(Language::Python, "Shape"), @r"
    34:14 type in Circle | class Circle(Shape):
    46:32 type in measure | async def measure(shapes: list[Shape]) -> float:
    ");
    insta::assert_snapshot!(used(Language::Python, "dataclass"), @r"
    6:25 import | from dataclasses import dataclass
    33:2 call | @dataclass
    ");
}

#[test]
fn rust_names_are_used() {
    insta::assert_snapshot!(used(Language::Rust, "Circle"), @r"
    39:9 type in Circle | impl<T> Circle<T> {
    45:19 type in Circle | impl<T> Shape for Circle<T>
    70:17 import in measure | use super::{Circle, Shape};
    76:22 type in measure.unit | pub fn unit() -> Circle<String> {
    77:9 type in measure.unit | Circle::<String>::new(1.0)
    ");
    insta::assert_snapshot!(used(Language::Rust, "area"), @r#"
    16:28 name in Shape.describe | format!("{}", self.area())
    73:41 call in measure.total | shapes.iter().map(|shape| shape.area()).sum()
    "#);
    insta::assert_snapshot!(used(Language::Rust, "Display"), @r"
    3:22 import | use std::fmt::{self, Display};
    47:8 type in Circle | T: Display,
    60:11 type in Kind | impl fmt::Display for Kind {
    ");
    insta::assert_snapshot!(used(Language::Rust, "square"), @"56:9 call in Circle.area | square(self.radius) * std::f64::consts::PI");
}

#[test]
fn typescript_names_are_used() {
    insta::assert_snapshot!(used(Language::TypeScript, "Shape"), @r"
    20:39 type in Base | export abstract class Base implements Shape {
    52:39 type in measure | export const measure = async (shapes: Shape[]): Promise<number> => {
    ");
    insta::assert_snapshot!(used(Language::TypeScript, "square"), @"43:12 call in Circle.area | return square(this.radius) * Math.PI;");
    insta::assert_snapshot!(used(Language::TypeScript, "Circle"), @"67:20 call | export default new Circle(1);");
    insta::assert_snapshot!(used(Language::TypeScript, "Size"), @r#"
    2:25 import | import type { Length as Size } from "./units";
    13:39 type in Measured.size | export type Measured<T> = T & { size: Size };
    58:34 type in Units.toMetres | export function toMetres(size: Size): number {
    "#);
    insta::assert_snapshot!(used(Language::Tsx, "Card"), @"17:13 call in List.render | return <Card shape={this.props.shape} />;");
}

#[test]
fn javascript_names_are_used() {
    insta::assert_snapshot!(used(Language::JavaScript, "square"), @"24:12 call in Circle.area | return square(this.radius) * Math.PI;");
    insta::assert_snapshot!(used(Language::JavaScript, "Card"), @"52:30 call in View | const View = ({ shape }) => <Card title={shape.name} />;");
    insta::assert_snapshot!(used(Language::JavaScript, "areaOf"), @r#"1:26 import | import { Length, area as areaOf } from "./units.js";"#);
}

#[test]
fn go_names_are_used() {
    insta::assert_snapshot!(used(Language::Go, "Circle"), @r"
    36:33 type in NewCircle | func NewCircle(radius float64) *Circle {
    37:10 type in NewCircle | return &Circle{Radius: radius}
    40:10 type in Circle.Area | func (c *Circle) Area() float64 {
    45:9 type in Circle.String | func (c Circle) String() string {
    ");
    insta::assert_snapshot!(used(Language::Go, "Area"), @r#"
    46:41 call in Circle.String | return fmt.Sprintf("%s: %f", c.name, c.Area())
    56:18 call in Measure | total += shape.Area()
    "#);
    insta::assert_snapshot!(used(Language::Go, "fmt"), @r#"
    20:2 name in Shape | fmt.Stringer
    46:9 name in Circle.String | return fmt.Sprintf("%s: %f", c.name, c.Area())
    "#);
}

#[test]
fn c_names_are_used() {
    insta::assert_snapshot!(used(Language::C, "shape"), @r"
    10:33 type in shape.area | double (*area)(const struct shape *self);
    14:12 type in circle_t.base | struct shape base;
    32:26 type in area | double area(const struct shape *self);
    40:26 type in label | char *label(const struct shape *self)
    ");
    insta::assert_snapshot!(used(Language::C, "area"), @"60:17 call in main | return (int)area(NULL);");
    insta::assert_snapshot!(used(Language::C, "names"), @"48:12 name in all_names | return names;");
}

#[test]
fn cpp_names_are_used() {
    insta::assert_snapshot!(used(Language::Cpp, "square"), @"58:20 call in shapes.Circle.area | return shapes::square<double>(radius) * 3.14;");
    insta::assert_snapshot!(used(Language::Cpp, "Circle"), @r#"
    54:9 name in shapes.Circle.Circle | shapes::Circle::Circle(double radius) : Shape("circle"), radius(radius) {}
    56:16 name in shapes.Circle.area | double shapes::Circle::area() const
    69:53 type in measure | std::vector<int> &measure(const std::vector<shapes::Circle> &all);
    "#);
    insta::assert_snapshot!(used(Language::Cpp, "shapes"), @r#"
    54:1 name in shapes.Circle.Circle | shapes::Circle::Circle(double radius) : Shape("circle"), radius(radius) {}
    56:8 name in shapes.Circle.area | double shapes::Circle::area() const
    58:12 name in shapes.Circle.area | return shapes::square<double>(radius) * 3.14;
    61:6 name in shapes.Shape.operator== | bool shapes::Shape::operator==(const Shape &other) const { return name_ == other.name_; }
    64:4 name in shapes.Box.get | T *shapes::Box<T>::get()
    69:45 name in measure | std::vector<int> &measure(const std::vector<shapes::Circle> &all);
    "#);
}

#[test]
fn java_names_are_used() {
    insta::assert_snapshot!(used(Language::Java, "Shapes"), @r"
    22:23 type in Shapes.measure | static <T extends Shapes> double measure(List<T> shapes) throws IllegalStateException {
    23:44 name in Shapes.measure | return shapes.stream().mapToDouble(Shapes::area).sum();
    60:33 type in Shapes.Circle | static class Circle extends Shapes {
    ");
    insta::assert_snapshot!(used(Language::Java, "Circle"), @"71:20 call in Shapes.make | return new Circle();");
    insta::assert_snapshot!(used(Language::Java, "area"), @r#"
    19:30 call in Shapes.toString | return name + ": " + area();
    23:52 call in Shapes.measure | return shapes.stream().mapToDouble(Shapes::area).sum();
    "#);
    insta::assert_snapshot!(used(Language::Java, "PI"), @r"
    4:30 import | import static java.lang.Math.PI;
    66:20 name in Shapes.Circle.area | return PI;
    ");
}

#[test]
fn a_variable_within_a_function_is_used_and_not_defined() {
    let text = "static int total;\nint sum(int a) {\n  int total = a;\n  return total;\n}\n";
    let found = references(Language::C, text, "total", &Limits::default()).unwrap();
    let lines: Vec<_> = found.items.iter().map(|it| it.span.line).collect();
    assert_eq!(lines, [3, 4]);
    let found = definitions(Language::C, text, "total", &Limits::default()).unwrap();
    assert_eq!(found.items.iter().map(|it| it.span.line).collect::<Vec<_>>(), [1]);
}

#[test]
fn what_is_over_the_limit_is_counted() {
    let text = "x = 1\n".repeat(30);
    let found = definitions(Language::Python, &text, "x", &Limits::default().keep(2)).unwrap();
    assert_eq!((found.items.len(), found.total), (2, 30));
    let text = "f(x)\n".repeat(30);
    let found = references(Language::Python, &text, "x", &Limits::default().keep(2)).unwrap();
    assert_eq!((found.items.len(), found.total), (2, 30));
}

#[test]
fn a_text_that_breaks_the_grammar_says_so_and_shows_the_rest() {
    let text = "def good(): pass\n\ndef bad(:\n\ndef other(): pass\n";
    let found = definitions(Language::Python, text, "good", &Limits::default()).unwrap();
    assert_eq!((found.items.len(), found.has_errors), (1, true));
}

#[test]
fn columns_are_bytes_and_lines_end_as_they_may() {
    let text = "é = 1\r\n\r\nclass A:\r\n    é = 2\r\n";
    let found = definitions(Language::Python, text, "é", &Limits::default()).unwrap();
    let spans: Vec<_> = found
        .items
        .iter()
        .map(|it| (it.span.line, it.span.column, it.span.last_line, it.span.end_column))
        .collect();
    assert_eq!(spans, [(1, 1, 1, 7), (4, 5, 4, 11)]);
    let text = "#define A \\\r\n  1\r\nint b;\n";
    let found = definitions(Language::C, text, "A", &Limits::default()).unwrap();
    let span = &found.items[0].span;
    assert_eq!((span.line, span.last_line, span.end_column), (1, 2, 4));
    assert_eq!(text.get(span.bytes.clone()), Some("#define A \\\r\n  1"));
}
