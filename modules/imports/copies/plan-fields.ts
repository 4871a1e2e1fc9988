import { shownType } from '../../../src/core/fields/field.ts'
import { FIELD_TYPE_NAMES, fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, isImportable, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { CopiedField } from '../../../src/core/table-copies.ts'
import { referencesOf, type SchemaService, type TableModel } from '../../schema/index.ts'

/** What becomes of each field, by its id. Without the record ids, system fields and keys of links. */
export type FieldEffects = ReadonlyMap<string, CopiedField['effect']>

/**
 * Plans the fields of tables that are copied to another base together. Links between the tables stay links; other links,
 * and fields computed from what stays behind, become their values. Fields that have no values to write are left out.
 */
export function planFields(models: readonly TableModel[], { isMove }: { isMove: boolean }): FieldEffects {
  const tableIds = new Set(models.map(({ table }) => table.id))
  return effectsOf(models, (field) => {
    const link = linkOf(field)
    if (link) return field.error === null && tableIds.has(link.relatedTableId)
    // The hash of a password stays with its record, and is not given away in copies.
    return fieldType(field.type).computed === undefined && (isMove || !isSecret(field))
  })
}

/** As `planFields`, for a table of a connected database: its values are read and written as texts. */
export const planConnectedFields = (model: TableModel): FieldEffects =>
  effectsOf([model], ({ type }) => isImportable(type))

/** The fields whose values are copied, each with what becomes of it, in the order of the tables. */
export const copiedFields = (models: readonly TableModel[], effects: FieldEffects): CopiedField[] =>
  models.flatMap(({ table, fields }) =>
    fields.flatMap((field) => {
      const { id, title } = field
      const effect = effects.get(id)
      if (effect === undefined) return []
      const isLogged = fieldType(field.type).computed === undefined || linkOf(field) !== null
      return [{ id, title, tableTitle: table.title, effect, losesHistory: isLogged && effect !== 'same' }]
    }),
  )

/** @param keeps the fields that stay as they are, apart from what is computed from others */
function effectsOf(models: readonly TableModel[], keeps: (field: Field) => boolean): FieldEffects {
  const fields = models
    .flatMap((model) => model.fields)
    .filter((field) => !field.isSystem && !field.isPrimaryKey && !isForeignKey(field))
  const kept = new Set(fields.filter(keeps).map(({ id }) => id))
  const computed = fields.filter(
    (field) => field.error === null && fieldType(field.type).computed !== undefined && linkOf(field) === null,
  )
  for (let size = -1; size !== kept.size; ) {
    size = kept.size
    for (const field of computed) {
      if (referencesOf(field).every((read) => 'fieldId' in read && kept.has(read.fieldId))) kept.add(field.id)
    }
  }
  return new Map(
    fields.map((field) => [
      field.id,
      kept.has(field.id) ? ('same' as const) : isLeftOut(field) ? ('left' as const) : ('values' as const),
    ]),
  )
}

/**
 * The tables that decide on the values of computed fields: those that they read through links, with the junction tables of
 * these, and whatever the fields read there depend on.
 */
export async function tablesReadBy(
  fields: readonly Field[],
  { load, tableOfField }: Pick<SchemaService, 'load' | 'tableOfField'>,
): Promise<Set<string>> {
  const tableIds = new Set<string>()
  const known = new Set(fields)
  // The set grows while it is read.
  for (const field of known) {
    // A broken field has no values.
    if (field.error !== null) continue
    for (const reference of referencesOf(field)) {
      if ('tableId' in reference) tableIds.add(reference.tableId)
      else if ('displayOf' in reference) known.add((await load(reference.displayOf)).displayField)
      else {
        const read = (await tableOfField(reference.fieldId)).field(reference.fieldId)
        if (read) known.add(read)
      }
    }
  }
  return tableIds
}

function isLeftOut({ type, error }: Field): boolean {
  const { isSecret, computed } = fieldType(type)
  return isSecret === true || error !== null || computed === 'code' || computed === 'button'
}

/** The type of the values of a field that becomes them: as shown, or text. */
export function valueType(field: Field): Pick<Field, 'type' | 'options'> {
  const { type, options, isList } = shownType(field)
  const name = FIELD_TYPE_NAMES.find((known) => known === type.name)
  if (!isList && name && isImportable(name)) return { type: name, options }
  return { type: !isList && type.storage === 'datetime' ? 'DateTime' : 'LongText', options: {} }
}
