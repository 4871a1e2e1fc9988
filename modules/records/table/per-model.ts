import type { TableModel } from '../../schema/index.ts'

/** Something that follows from a table alone, worked out once for each version of it. */
export function perModel<T>(make: (model: TableModel) => T): (model: TableModel) => T {
  const made = new WeakMap<TableModel, { value: T }>()
  return (model) => {
    const known = made.get(model)
    if (known) return known.value
    const value = make(model)
    made.set(model, { value })
    return value
  }
}
