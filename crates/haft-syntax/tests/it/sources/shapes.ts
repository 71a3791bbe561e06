import { readFile } from "node:fs/promises";
import type { Length as Size } from "./units";
import * as units from "./units";

export const LIMIT = 100;
let counter = 0;

export interface Shape {
  readonly name: string;
  area(): number;
}

export type Measured<T> = T & { size: Size };

export enum Kind {
  Round,
  Square = "square",
}

export abstract class Base implements Shape {
  static count = 0;
  #secret = 1;

  constructor(public readonly name: string) {
    Base.count += 1;
  }

  abstract area(): number;

  get label(): string {
    return `${this.name}: ${this.area()}`;
  }

  private scale = (by: number): number => by * this.#secret;
}

export class Circle extends Base {
  constructor(private radius: number) {
    super("circle");
  }

  override area(): number {
    return square(this.radius) * Math.PI;
  }
}

function square(x: number): number;
function square(x: any): any {
  return x * x;
}

export const measure = async (shapes: Shape[]): Promise<number> => {
  const total = shapes.reduce((sum, shape) => sum + shape.area(), 0);
  return Math.min(total, LIMIT);
};

namespace Units {
  export function toMetres(size: Size): number {
    return units.convert(size);
  }
}

declare module "shapes" {
  const version: string;
}

export default new Circle(1);
