import { linkOf } from '../../../src/core/fields/link-options.ts'
import { type ComputedRules, gives, missingColumn, type Reference } from './rules.ts'

/** A link reads the related table, by whose display field it shows the records, and its key or its pairs. */
export const linkRules: ComputedRules = {
  references(field) {
    const options = linkOf(field)
    if (!options) return []
    const { relatedTableId, keyFieldId, junction } = options
    const tables: Reference[] = [{ tableId: relatedTableId }, { displayOf: relatedTableId }]
    if (junction) tables.push({ tableId: junction.tableId })
    if (keyFieldId !== null) tables.push({ fieldId: keyFieldId })
    return tables
  },
  // Made by `links/create.ts`, which looks at more than one field.
  check() {},
  resolve(field, around) {
    const key = linkOf(field)?.keyFieldId ?? null
    return key === null || around.field(key) ? gives(null) : missingColumn(key, around)
  },
}
