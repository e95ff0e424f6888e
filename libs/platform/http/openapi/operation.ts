import { SetMetadata } from '@nestjs/common';
import type { ErrorCode } from '#kernel/domain-error.js';
import type { Schema } from './schema.js';

export interface HeaderSpec {
  readonly description: string;
  readonly schema: Schema;
  /** Whether each answer of this kind has it. */
  readonly required: boolean;
}

/** What a route says of itself. Who may call it, its body and its status are known from its other decorators. */
export interface OperationSpec {
  /** Unique, in the words of a client library: `sendMessage`. */
  readonly id: string;
  /** A few words, beginning with a verb. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** Each `:name` of the path. */
  readonly path?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  /** Request headers beyond those of every request. */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** The answer to a request that succeeds. */
  readonly answer: {
    readonly description: string;
    /** Left out where there is no body. */
    readonly body?: Schema;
    /** `application/json` unless told otherwise. */
    readonly mediaTypes?: readonly string[];
    /** Beyond those of every answer. */
    readonly headers?: Readonly<Record<string, HeaderSpec>>;
  };
  /** Errors of this route beyond those that follow from its access, body and parameters. */
  readonly problems?: readonly ErrorCode[];
}

export interface SectionSpec {
  readonly name: string;
  readonly description?: string;
}

export const OPERATION = Symbol('operation');
export const SECTION = Symbol('section');
const FIELD = Symbol('field');

/** Describes a route for the OpenAPI document. Every route needs it. */
export const Operation = (spec: OperationSpec) => SetMetadata(OPERATION, spec);

/** The section of the document that a controller's routes are in. */
export const Section = (name: string, description?: string) =>
  SetMetadata(SECTION, { name, ...(description === undefined ? {} : { description }) } satisfies SectionSpec);

/** What the rules of a body's field can't tell: its description, examples, and what the domain refuses later. */
export const Field =
  (
    schema: Readonly<Record<string, unknown>> & { readonly description: string; readonly examples: readonly unknown[] },
  ): PropertyDecorator =>
  (target, field) => {
    Reflect.defineMetadata(FIELD, schema, target, field);
  };

export function fieldOf(type: new () => object, field: string): Readonly<Record<string, unknown>> {
  return (Reflect.getMetadata(FIELD, type.prototype as object, field) ?? {}) as Record<string, unknown>;
}
