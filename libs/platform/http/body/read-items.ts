import { ValidationError, type FieldError } from '#kernel/domain-error.js';

/** Errors of a batch that are reported, at most. */
const MAX_ERRORS = 100;

/** Notes an error of a field of the item, unless it is null. */
type Note = (field: string, detail: string | null) => void;

/**
 * The items of a batch, validated without class-validator: a thousand instances would cost more than the rest of the
 * request.
 * @param list the field of the body that has the items
 * @param one what an item is, as errors call it
 * @param read reads an item; its result is used only if no error was noted
 * @throws ValidationError with the first 100 errors
 */
export function readItems<Item>(
  list: string,
  one: string,
  items: readonly unknown[],
  read: (fields: Readonly<Record<string, unknown>>, note: Note) => Item,
): Item[] {
  const errors: FieldError[] = [];
  const found: Item[] = [];
  for (const [index, item] of items.entries()) {
    const pointer = `/${list}/${index}`;
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      errors.push({ pointer, detail: `${one} must be an object.` });
      continue;
    }
    // Without a prototype, so that inherited fields are not read.
    const fields = Object.assign(Object.create(null), item) as Record<string, unknown>;
    const note: Note = (field, detail) => {
      if (detail !== null) errors.push({ pointer: `${pointer}/${field}`, detail });
    };
    found.push(read(fields, note));
  }
  if (errors.length > 0) throw new ValidationError(errors.slice(0, MAX_ERRORS));
  return found;
}
