import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field } from '../../../src/core/model.ts'
import type { StoredField, TableModel } from './model.ts'
import { duplicateField, physicalName, titleKey } from './names.ts'

/** Room for the number of a column that is called after a table. */
const MAX_KEY_NAME = 48

/** What of a new field is not as in every other. */
export type SlotField = Pick<Field, 'title' | 'type' | 'options'> & Partial<Field>

/** The place of new fields in one table: their titles, columns and order, several of them in one change. */
export interface FieldSlots {
  readonly model: TableModel
  /** The fields that were added, in order. */
  readonly added: Field[]
  /** @throws DUPLICATE_ALIAS for a title in use */
  requireTitle(title: string): void
  /** The title itself where it is free, else with a number behind it: `Owner1` (wire reference §8.2). */
  freeTitle(title: string): string
  /** The name of a column that keeps keys of a table, which is also its title: `Author_id`, `Author_id1`. */
  keyName(parentTableName: string): string
  /** A free name for the column of a field with values. */
  columnName(title: string): string
  add(field: SlotField): Field
}

/** @param stored every field of the table, those in the trash included: their columns are taken */
export function openSlots(model: TableModel, stored: StoredField[]): FieldSlots {
  const titles = new Set(model.fields.map((field) => titleKey(field.title)))
  const columns = new Set(stored.map((field) => field.columnName.toLowerCase()))
  let order = Math.max(0, ...stored.map((field) => field.order))
  const added: Field[] = []
  const numbered = (name: string, isFree: (candidate: string) => boolean): string => {
    for (let number = 0; ; number++) {
      const candidate = number === 0 ? name : `${name}${number}`
      if (isFree(candidate)) return candidate
    }
  }
  const isFreeTitle = (title: string) => !titles.has(titleKey(title))
  return {
    model,
    added,
    requireTitle(title) {
      if (!isFreeTitle(title)) throw duplicateField(title, model.table.id, model.table.baseId)
    },
    freeTitle: (title) => numbered(title, isFreeTitle),
    keyName(parentTableName) {
      const name = physicalName(parentTableName, new Set(), 'table').slice(0, MAX_KEY_NAME)
      return numbered(
        `${name}_id`,
        (candidate) => isFreeTitle(candidate) && !columns.has(candidate.toLowerCase()),
      )
    },
    columnName: (title) => physicalName(title, columns, 'field'),
    add(field) {
      order++
      const made: Field = {
        id: createId('field'),
        tableId: model.table.id,
        columnName: '',
        description: null,
        required: false,
        unique: false,
        defaultValue: null,
        order,
        isDisplay: false,
        isPrimaryKey: false,
        isSystem: false,
        ...OWN_COLUMN,
        ...field,
      }
      titles.add(titleKey(made.title))
      if (made.columnName !== '') columns.add(made.columnName.toLowerCase())
      added.push(made)
      return made
    },
  }
}
