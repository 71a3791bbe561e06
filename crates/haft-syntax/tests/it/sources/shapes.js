import { Length, area as areaOf } from "./units.js";
const fs = require("fs");

export const LIMIT = 100;
var counter = 0;

class Shape {
  static #count = 0;
  name = "shape";

  constructor(name) {
    this.name = name;
  }

  area() {
    throw new Error("no area");
  }

  scale = (by) => this.area() * by;
}

export default class Circle extends Shape {
  area() {
    return square(this.radius) * Math.PI;
  }
}

function square(x) {
  const twice = (y) => y * y;
  return twice(x);
}

function* sides() {
  yield 1;
}

export const measure = async (shapes) => {
  let total = 0;
  for (const shape of shapes) total += shape.area();
  return Math.min(total, LIMIT);
};

const handlers = {
  open: () => fs.open(),
  close() {},
};

module.exports.total = function (shapes) {
  return shapes.length;
};

const View = ({ shape }) => <Card title={shape.name} />;
