import { EVERY_ANSWER, type AnswerSpec } from './answers.js';
import { Model } from './schema.js';

/** What the document has once and refers to. */
export class Components {
  private readonly named = new Map<string, Model>();
  private readonly schemas: Record<string, unknown> = {};
  private readonly responses: Record<string, object> = {};
  private readonly headers: Record<string, object> = {};

  constructor() {
    for (const [name, header] of Object.entries(EVERY_ANSWER)) this.headers[name] = this.resolve(header) as object;
  }

  all(): object {
    return { schemas: this.schemas, responses: this.responses, headers: this.headers };
  }

  answer(name: string, answer: AnswerSpec): object {
    this.responses[name] ??= this.inline(answer);
    return { $ref: `#/components/responses/${name}` };
  }

  inline({ description, headers, content }: AnswerSpec): object {
    const all: Record<string, object> = {};
    for (const name of Object.keys(EVERY_ANSWER)) all[name] = { $ref: `#/components/headers/${name}` };
    const body = Object.keys(content).length > 0 ? { content } : {};
    return this.resolve({ description, headers: { ...all, ...headers }, ...body }) as object;
  }

  /** @throws Error when another model has this name */
  private add(model: Model): void {
    if (this.named.has(model.name)) throw new Error(`Two models are called ${model.name}.`);
    this.named.set(model.name, model);
    this.schemas[model.name] = this.resolve(model.schema);
  }

  /** The same with a reference in the place of each model. */
  resolve(value: unknown): unknown {
    if (value instanceof Model) {
      if (this.named.get(value.name)?.schema !== value.schema) this.add(value);
      return { $ref: `#/components/schemas/${value.name}` };
    }
    if (Array.isArray(value)) return value.map((item) => this.resolve(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.resolve(item)]));
  }
}
