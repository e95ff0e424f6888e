import { SetMetadata } from '@nestjs/common';
import type { JsonSchema, Schema } from './schema.js';

/** A header of a response. */
export interface HeaderSpec {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

export function header(description: string, schema: JsonSchema, required = true): HeaderSpec {
  return { description, schema, required };
}

/** What the document states about a route beyond its other decorators, which define its access, body and status. */
export interface OperationSpec {
  /** Unique; client libraries name a function after it: `sendMessage`. */
  readonly id: string;
  /** A few words that begin with a verb. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** One schema for each `:name` of the path. */
  readonly path?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly headers?: Readonly<Record<string, Schema>>;
  /** The successful response. */
  readonly response: {
    readonly description: string;
    /** Descriptions of further statuses of success, with the same body and headers. */
    readonly alternatives?: Readonly<Record<number, string>>;
    /** Omitted for a response without a body. */
    readonly body?: Schema;
    /** `application/json` by default. */
    readonly mediaTypes?: readonly string[];
    /** Bodies of further media types, which `Accept` selects, by media type. */
    readonly otherBodies?: Readonly<Record<string, Schema>>;
    /** In addition to the headers of every response. */
    readonly headers?: Readonly<Record<string, HeaderSpec>>;
    /** Operations whose path takes the `id` of the body, by their ids. */
    readonly links?: readonly string[];
  };
  /** Errors in addition to the ones that follow from the access, body and parameters of the route. */
  readonly errors?: readonly string[];
}

export const OPERATION = Symbol('operation');
export const SECTION = Symbol('section');
const FIELD = Symbol('field');
const FORMS = Symbol('forms');
const KNOWN_FIELDS_ONLY = Symbol('known fields only');

/** Describes a route. Required for every route. */
export const Operation = (spec: OperationSpec) => SetMetadata(OPERATION, spec);

/** Sets the section (in OpenAPI: the tag) of a controller's routes. */
export const Section = (name: string) => SetMetadata(SECTION, name);

/** Describes a field of a request body: everything that its validation rules do not express. */
export const Field =
  (schema: JsonSchema & { readonly description: string; readonly examples: readonly unknown[] }): PropertyDecorator =>
  (target, field) => {
    Reflect.defineMetadata(FIELD, schema, target, field);
  };

/** The forms that a request body has, by the names of their models: the fields of one of them are required. */
export const Forms = (forms: Readonly<Record<string, readonly string[]>>) => SetMetadata(FORMS, forms);

export function describedForms(type: new () => object) {
  return Reflect.getMetadata(FORMS, type) as Readonly<Record<string, readonly string[]>> | undefined;
}

/** Refuses unknown fields in a request body: with a misspelled filter, the operation would do more than was meant. */
export const KnownFieldsOnly = () => SetMetadata(KNOWN_FIELDS_ONLY, true);

export function takesKnownFieldsOnly(type: new () => object): boolean {
  return Reflect.hasMetadata(KNOWN_FIELDS_ONLY, type);
}

export function describedField(type: new () => object, field: string): JsonSchema {
  return (Reflect.getMetadata(FIELD, type.prototype as object, field) ?? {}) as JsonSchema;
}
