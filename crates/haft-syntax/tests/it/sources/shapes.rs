//! Shapes and what they measure.

use std::fmt::{self, Display};

pub const LIMIT: usize = 100;
static NAMES: &[&str] = &["circle", "square"];

/// Anything with an area.
pub trait Shape {
    type Unit;
    const SIDES: u32;

    fn area(&self) -> f64;

    fn describe(&self) -> String {
        format!("{}", self.area())
    }
}

#[derive(Debug, Clone)]
pub struct Circle<T> {
    pub radius: f64,
    label: Option<T>,
}

pub enum Kind {
    Round,
    Square { side: f64 },
    Other(String),
}

union Bits {
    whole: u32,
    half: [u16; 2],
}

pub type Area = f64;

impl<T> Circle<T> {
    pub const fn new(radius: f64) -> Self {
        Self { radius, label: None }
    }
}

impl<T> Shape for Circle<T>
where
    T: Display,
{
    type Unit = f64;
    const SIDES: u32 = 0;

    fn area(&self) -> f64 {
        fn square(x: f64) -> f64 {
            x * x
        }
        square(self.radius) * std::f64::consts::PI
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Square { side } => write!(f, "{side}"),
            _ => f.write_str("shape"),
        }
    }
}

pub(crate) mod measure {
    use super::{Circle, Shape};

    pub fn total<S: Shape>(shapes: &[S]) -> f64 {
        shapes.iter().map(|shape| shape.area()).sum()
    }

    pub fn unit() -> Circle<String> {
        Circle::<String>::new(1.0)
    }
}

macro_rules! square {
    ($side:expr) => {
        $side * $side
    };
}
