//! What each language's source defines.

use haft_syntax::Language;

use crate::rig::outlined;

#[test]
fn c_is_outlined() {
    insta::assert_snapshot!(outlined(Language::C), @r"
    4 macro LIMIT | #define LIMIT 100
    5 macro SQUARE | #define SQUARE(x) ((x) * (x))
    7-11 struct shape | struct shape
      8 field shape.name | const char *name
      9 field shape.sides | double sides[4]
      10 field shape.area | double (*area)(const struct shape *self)
    13-16 struct circle_t | typedef struct { struct shape base; double radius; } circle_t
      14 field circle_t.base | struct shape base
      15 field circle_t.radius | double radius
    18 type count_t | typedef unsigned long count_t, *count_ptr
    18 type count_ptr | typedef unsigned long count_t, *count_ptr
    19 type compare_fn | typedef int (*compare_fn)(const void *, const void *)
    21 enum kind | enum kind
      21 variant kind.ROUND | ROUND
      21 variant kind.SQUARED | SQUARED = 4
    23-26 union bits | union bits
      24 field bits.whole | unsigned whole
      25 field bits.bytes | unsigned char bytes[4]
    28 variable counter | static int counter = 0
    29 variable names | extern const char *names[]
    30 variable first | int first, second
    30 variable second | int first, second
    32 function area | double area(const struct shape *self)
    34-38 function square | static inline double square(double x)
    40-44 function label | char *label(const struct shape *self)
    46-49 function all_names | const char **all_names(void)
    51-55 function circle_area | double circle_area(const circle_t *circle)
    58-61 function main | int main(void)
    ");
}

#[test]
fn cpp_is_outlined() {
    insta::assert_snapshot!(outlined(Language::Cpp), @r#"
    4-52 module shapes | namespace shapes
      6 variable shapes.kLimit | constexpr int kLimit = 100
      8-20 class shapes.Shape | class Shape
        10 constructor shapes.Shape.Shape | explicit Shape(std::string name) : name_(std::move(name))
        11 method shapes.Shape.~Shape | virtual ~Shape() = default
        13 method shapes.Shape.area | virtual double area() const = 0
        14 method shapes.Shape.name | const std::string &name() const
        15 method shapes.Shape.operator== | bool operator==(const Shape &other) const
        16 field shapes.Shape.count | static int count
        19 field shapes.Shape.name_ | std::string name_
      23-27 class shapes.Box | class Box : public Shape
        25 method shapes.Box.get | T *get()
        26 field shapes.Box.value | T value
      29-33 struct shapes.Circle | struct Circle final : Shape
        30 constructor shapes.Circle.Circle | Circle(double radius)
        31 method shapes.Circle.area | double area() const override
        32 field shapes.Circle.radius | double radius
      35 enum shapes.Kind | enum class Kind
        35 variant shapes.Kind.Round | Round
        35 variant shapes.Kind.Square | Square
      37 type shapes.Area | using Area = double
      40 trait shapes.Measured | concept Measured = requires(T it) { it.area(); }
      43-46 function shapes.square | T square(T x)
      48-50 module shapes.detail.deep | namespace detail::deep
        49 function shapes.detail.deep.twice | inline int twice(int x)
    54 constructor shapes.Circle.Circle | shapes::Circle::Circle(double radius) : Shape("circle"), radius(radius)
    56-59 method shapes.Circle.area | double shapes::Circle::area() const
    61 method shapes.Shape.operator== | bool shapes::Shape::operator==(const Shape &other) const
    64-67 method shapes.Box.get | T *shapes::Box<T>::get()
    69 function measure | std::vector<int> &measure(const std::vector<shapes::Circle> &all)
    "#);
}

#[test]
fn go_is_outlined() {
    insta::assert_snapshot!(outlined(Language::Go), @r"
    8 constant Limit | const Limit = 100
    11 constant Round | Round = iota
    12 constant Square | Square
    15 variable cache | var cache = map[string]float64{}
    18-21 interface Shape | type Shape interface
      19 method Shape.Area | Area() float64
    23-26 struct Circle | type Circle struct
      24 field Circle.Radius | Radius float64
      25 field Circle.name | name string
    29-31 struct Pair | Pair[T any] struct
      30 field Pair.First | First, Second T
      30 field Pair.Second | First, Second T
    32 type Side | Side = float64
    33 type Sides | Sides []float64
    36-38 function NewCircle | func NewCircle(radius float64) *Circle
    40-43 method Circle.Area | func (c *Circle) Area() float64
    45-47 method Circle.String | func (c Circle) String() string
    49-51 method Pair.Swap | func (p Pair[T]) Swap() Pair[T]
    53-59 function Measure | func Measure(shapes ...Shape) (total float64, err error)
    ");
}

#[test]
fn java_is_outlined() {
    insta::assert_snapshot!(outlined(Language::Java), @r#"
    6-73 class Shapes | public abstract class Shapes
      7 constant Shapes.LIMIT | public static final int LIMIT = 100
      8 field Shapes.name | private final String name
      9 field Shapes.a | protected int a, b
      9 field Shapes.b | protected int a, b
      11-13 constructor Shapes.Shapes | public Shapes(String name)
      15 method Shapes.area | public abstract double area()
      17-20 method Shapes.toString | @Override public String toString()
      22-24 method Shapes.measure | static <T extends Shapes> double measure(List<T> shapes) throws IllegalStateException
      26-30 interface Shapes.Named | interface Named
        27 constant Shapes.Named.SIZE | int SIZE = 3
        29 method Shapes.Named.name | String name()
      32-44 enum Shapes.Kind | enum Kind
        33 variant Shapes.Kind.ROUND | ROUND
        34-39 variant Shapes.Kind.SQUARE | SQUARE
          35-38 method Shapes.Kind.SQUARE.sides | @Override int sides()
        41-43 method Shapes.Kind.sides | int sides()
      46-54 struct Shapes.Point | record Point(double x, double y) implements Named
        46 field Shapes.Point.x | double x
        46 field Shapes.Point.y | double y
        47-49 constructor Shapes.Point.Point | Point
        51-53 method Shapes.Point.name | public String name()
      56-58 interface Shapes.Measured | @interface Measured
        57 method Shapes.Measured.unit | String unit() default "m"
      60-68 class Shapes.Circle | static class Circle extends Shapes
        61-63 constructor Shapes.Circle.Circle | Circle()
        65-67 method Shapes.Circle.area | public double area()
      70-72 method Shapes.make | Object make()
    "#);
}

#[test]
fn javascript_is_outlined() {
    insta::assert_snapshot!(outlined(Language::JavaScript), @r#"
    2 constant fs | const fs = require("fs")
    4 constant LIMIT | export const LIMIT = 100
    5 variable counter | var counter = 0
    7-20 class Shape | class Shape
      8 field Shape.#count | static #count = 0
      9 field Shape.name | name = "shape"
      11-13 constructor Shape.constructor | constructor(name)
      15-17 method Shape.area | area()
      19 method Shape.scale | scale = (by)
    22-26 class Circle | export default class Circle extends Shape
      23-25 method Circle.area | area()
    28-31 function square | function square(x)
      29 function square.twice | const twice = (y)
    33-35 function sides | function* sides()
    37-41 function measure | export const measure = async (shapes)
    43-46 constant handlers | const handlers
      44 function handlers.open | open: ()
      45 method handlers.close | close()
    48-50 function total | module.exports.total = function (shapes)
    52 function View | const View = ({ shape })
    "#);
}

#[test]
fn python_is_outlined() {
    insta::assert_snapshot!(outlined(Language::Python), @r"
    9 constant LIMIT | LIMIT = 100
    10 variable _cache | _cache: dict[str, float] = {}
    11 variable width | width, height = 3, 4
    11 variable height | width, height = 3, 4
    13 type Side | type Side = float
    16-30 class Shape | class Shape
      19 field Shape.sides | sides: int = 0
      21-23 constructor Shape.__init__ | def __init__(self, name: str, *, scale: float = 1.0) -> None
      26-27 method Shape.label | def label(self) -> str
      29-30 method Shape.area | def area(self) -> Length
    34-43 class Circle | class Circle(Shape)
      35 field Circle.radius | radius: float
      37-43 method Circle.area | def area(self) -> float
        40-41 function Circle.area.square | def square(x)
    46-50 function measure | async def measure(shapes: list[Shape]) -> float
    53 variable area | area = area_of
    ");
}

#[test]
fn rust_is_outlined() {
    insta::assert_snapshot!(outlined(Language::Rust), @r#"
    5 constant LIMIT | pub const LIMIT: usize = 100
    6 variable NAMES | static NAMES: &[&str] = &["circle", "square"]
    9-18 trait Shape | pub trait Shape
      10 type Shape.Unit | type Unit
      11 constant Shape.SIDES | const SIDES: u32
      13 method Shape.area | fn area(&self) -> f64
      15-17 method Shape.describe | fn describe(&self) -> String
    21-24 struct Circle | pub struct Circle<T>
      22 field Circle.radius | pub radius: f64
      23 field Circle.label | label: Option<T>
    26-30 enum Kind | pub enum Kind
      27 variant Kind.Round | Round
      28 variant Kind.Square | Square { side: f64 }
        28 field Kind.Square.side | side: f64
      29 variant Kind.Other | Other(String)
    32-35 union Bits | union Bits
      33 field Bits.whole | whole: u32
      34 field Bits.half | half: [u16; 2]
    37 type Area | pub type Area = f64
    39-43 impl Circle | impl<T> Circle<T>
      40-42 method Circle.new | pub const fn new(radius: f64) -> Self
    45-58 impl Circle | impl<T> Shape for Circle<T> where T: Display
      49 type Circle.Unit | type Unit = f64
      50 constant Circle.SIDES | const SIDES: u32 = 0
      52-57 method Circle.area | fn area(&self) -> f64
        53-55 function Circle.area.square | fn square(x: f64) -> f64
    60-67 impl Kind | impl fmt::Display for Kind
      61-66 method Kind.fmt | fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result
    69-79 module measure | pub(crate) mod measure
      72-74 function measure.total | pub fn total<S: Shape>(shapes: &[S]) -> f64
      76-78 function measure.unit | pub fn unit() -> Circle<String>
    81-85 macro square | macro_rules! square
    "#);
}

#[test]
fn typescript_is_outlined() {
    insta::assert_snapshot!(outlined(Language::TypeScript), @r#"
    5 constant LIMIT | export const LIMIT = 100
    6 variable counter | let counter = 0
    8-11 interface Shape | export interface Shape
      9 field Shape.name | readonly name: string
      10 method Shape.area | area(): number
    13 type Measured | export type Measured<T> = T & { size: Size }
      13 field Measured.size | size: Size
    15-18 enum Kind | export enum Kind
      16 variant Kind.Round | Round
      17 variant Kind.Square | Square = "square"
    20-35 class Base | export abstract class Base implements Shape
      21 field Base.count | static count = 0
      22 field Base.#secret | #secret = 1
      24-26 constructor Base.constructor | constructor(public readonly name: string)
      28 method Base.area | abstract area(): number
      30-32 method Base.label | get label(): string
      34 method Base.scale | private scale = (by: number): number
    37-45 class Circle | export class Circle extends Base
      38-40 constructor Circle.constructor | constructor(private radius: number)
      42-44 method Circle.area | override area(): number
    47 function square | function square(x: number): number
    48-50 function square | function square(x: any): any
    52-55 function measure | export const measure = async (shapes: Shape[]): Promise<number>
    57-61 module Units | namespace Units
      58-60 function Units.toMetres | export function toMetres(size: Size): number
    63-65 module shapes | declare module "shapes"
    "#);
}

#[test]
fn tsx_is_outlined() {
    insta::assert_snapshot!(outlined(Language::Tsx), @r"
    3 type Props | type Props = { shape: Shape; onPick?: (shape: Shape) => void }
      3 field Props.shape | shape: Shape
      3 field Props.onPick | onPick?: (shape: Shape) => void
    5-12 function Card | export function Card({ shape, onPick }: Props)
    14-19 class List | export default class List extends Component<Props>
      15 field List.state | state = { open: false }
      16-18 method List.render | render()
    ");
}

#[test]
fn comments_are_no_part_of_a_signature_wherever_they_stand() {
    let signature = |language, text: &str| {
        let found = haft_syntax::outline(language, text, &haft_syntax::Limits::default()).unwrap();
        found.items[0].signature.clone()
    };
    let rust = "fn f<T /* any */>(\n    a: u8, // first: (\n    /// the second\n    b: Vec</* of */ T>,\n) -> T /* out */ {}\n";
    insta::assert_snapshot!(signature(Language::Rust, rust), @"fn f<T >(a: u8, b: Vec< T>) -> T");
    let python = "def f(\n    a,  # type: int\n    b=1,  # a: default\n):  # type: (...) -> None\n    pass\n";
    insta::assert_snapshot!(signature(Language::Python, python), @"def f(a, b=1)");
    let script = "export function f(a /* one */, b = { c: 1 /* two */ }) {}\n";
    insta::assert_snapshot!(signature(Language::TypeScript, script), @"export function f(a, b = { c: 1 })");
    let go = "package p\n\nfunc f(a int /* bytes */, b string) (/* no */ error) {}\n";
    insta::assert_snapshot!(signature(Language::Go, go), @"func f(a int, b string) (error)");
    let c = "int f(int a, /* NULL: none */ char *b) { return 0; }\n";
    insta::assert_snapshot!(signature(Language::C, c), @"int f(int a, char *b)");
    let java = "class A { int f(int a, // one\n  int b) { return 1; } }\n";
    insta::assert_snapshot!(signature(Language::Java, java), @"class A");
}
