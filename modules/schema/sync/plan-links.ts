import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { type LinkOptions, linkOptions } from '../../../src/core/fields/link-options.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field } from '../../../src/core/model.ts'
import type { ForeignKeyStructure, TableStructure } from '../../../src/db/introspect/index.ts'
import { createTitles, type PlannedForeignTable, withoutKeyWord } from './plan-table.ts'

/** Something that a person should know of a table, in words. */
export interface SourceNote {
  table: string
  message: string
}

/** A foreign key whose two columns are both here. */
interface Reference {
  child: PlannedForeignTable
  parent: PlannedForeignTable
  keyField: Field
  parentField: Field
}

const PART_OF_KEY = 'This link is part of the primary key, which can’t be changed'

/**
 * Adds to the tables the link fields that their foreign keys mean: one on each side, and for a table that
 * only pairs two others also a link right through it. Changes the fields that hold keys. `wanted` limits it
 * to some of the foreign keys, for a table that has its other links already.
 */
export function planLinks(
  tables: PlannedForeignTable[],
  wanted: (child: TableStructure, key: ForeignKeyStructure) => boolean = () => true,
): SourceNote[] {
  const byName = new Map(tables.map((one) => [one.structure.name, one]))
  const notes: SourceNote[] = []
  const referred = new Set(
    tables.flatMap(({ structure }) => structure.foreignKeys.map((key) => key.relatedTable)),
  )
  for (const child of tables) {
    const references: Reference[] = []
    for (const key of child.structure.foreignKeys) {
      const parent = byName.get(key.relatedTable)
      if (!parent || !wanted(child.structure, key)) continue
      if (key.columns.length !== 1) {
        notes.push({ table: child.structure.name, message: compositeNote(key) })
        continue
      }
      const keyField = child.fields.find((field) => field.columnName === key.columns[0])
      const parentField = parent.fields.find((field) => field.columnName === key.relatedColumns[0])
      if (keyField && parentField) references.push({ child, parent, keyField, parentField })
    }
    const isPair = !referred.has(child.structure.name) && isJunction(child.structure, references)
    // Columns that are named for the record they lead to choose their titles first.
    const named = references.toSorted((a, b) => Number(isNamed(b.keyField)) - Number(isNamed(a.keyField)))
    for (const reference of named) linkBothSides(reference, isPair)
    const [own, other] = references
    if (isPair && own && other) {
      child.table.isJunction = true
      linkThrough(own, other)
    }
  }
  return notes
}

const compositeNote = ({ columns, relatedTable }: ForeignKeyStructure): string =>
  `${columns.join(', ')} form a composite foreign key to ${relatedTable}. Links need a single-column key, so these columns are shown as plain fields.`

/** The child's link to its parent (bt, or oo where each parent has one child at most), and the parent's back. */
function linkBothSides({ child, parent, keyField, parentField }: Reference, isHidden: boolean): void {
  const isOne = isUnique(child.structure, keyField.columnName)
  asForeignKey(keyField, parentField)
  const shared: Partial<LinkOptions> = { keyFieldId: keyField.id, parentFieldId: parentField.id }
  const readOnlyReason = keyField.isPrimaryKey ? PART_OF_KEY : keyField.readOnlyReason
  const toParent = newLink(child, {
    type: 'LinkToAnotherRecord',
    title: titleOfLink(child, parent, keyField),
    options: { ...shared, kind: isOne ? 'oo' : 'bt', relatedTableId: parent.table.id, holdsKey: true },
    readOnlyReason,
  })
  const toChild = newLink(parent, {
    type: isOne ? 'LinkToAnotherRecord' : 'Links',
    title: titleOfReverse({ child, parent, keyField, parentField }, toParent.title),
    options: { ...shared, kind: isOne ? 'oo' : 'hm', relatedTableId: child.table.id, holdsKey: false },
    readOnlyReason,
    isSystem: isHidden,
  })
  pairUp(toParent, toChild)
  child.fields.push(toParent)
  parent.fields.push(toChild)
}

const isNamed = ({ columnName }: Field): boolean => withoutKeyWord(columnName) !== columnName

/** `author` for a column `author_id`; for another, the parent's title, with the column where that is taken. */
function titleOfLink(child: PlannedForeignTable, parent: PlannedForeignTable, { columnName }: Field): string {
  const wish = withoutKeyWord(columnName)
  if (wish !== columnName) return wish
  const { title } = parent.table
  return child === parent || hasTitle(child, title) ? `${title} (${columnName})` : title
}

/**
 * The child's title, with the link where that is taken. Both ends of a link of a table to itself stand in one table, and
 * there may be several: `manager` and `employees (manager)`, `mentor` and `employees (mentor)`.
 */
function titleOfReverse({ child, parent, keyField }: Reference, forth: string): string {
  const { title } = child.table
  if (child !== parent) return hasTitle(parent, title) ? `${title} (${forth})` : title
  const { columnName } = keyField
  const name = withoutKeyWord(columnName)
  // Without a key word the way forth has this title already.
  return name === columnName ? `${title} (${columnName}, reverse)` : `${title} (${name})`
}

/** The links of the two tables that a third one pairs. */
function linkThrough(own: Reference, other: Reference): void {
  const { table } = own.child
  const link = (from: Reference, to: Reference) =>
    newLink(from.parent, {
      type: 'Links',
      title: hasTitle(from.parent, to.parent.table.title)
        ? `${to.parent.table.title} (${table.title})`
        : to.parent.table.title,
      options: {
        kind: 'mm',
        relatedTableId: to.parent.table.id,
        junction: { tableId: table.id, ownFieldId: from.keyField.id, relatedFieldId: to.keyField.id },
      },
      readOnlyReason: null,
    })
  const forth = link(own, other)
  own.parent.fields.push(forth)
  const back = link(other, own)
  other.parent.fields.push(back)
  pairUp(forth, back)
}

const hasTitle = ({ fields }: PlannedForeignTable, title: string): boolean =>
  fields.some((field) => field.title.toLowerCase() === title.toLowerCase())

function pairUp(a: Field, b: Field): void {
  a.options = { ...a.options, inverseFieldId: b.id }
  b.options = { ...b.options, inverseFieldId: a.id }
}

function newLink(
  { table, fields }: PlannedForeignTable,
  link: {
    type: 'Links' | 'LinkToAnotherRecord'
    title: string
    options: Partial<LinkOptions>
    readOnlyReason: string | null
    isSystem?: boolean
  },
): Field {
  const { type, readOnlyReason, isSystem = false } = link
  return {
    id: createId('field'),
    tableId: table.id,
    columnName: '',
    type,
    description: null,
    title: createTitles(fields.map((field) => field.title))(link.title),
    options: linkOptions.parse(link.options),
    required: false,
    unique: false,
    defaultValue: null,
    isDisplay: false,
    isPrimaryKey: false,
    isSystem,
    order: Math.max(0, ...fields.map((field) => field.order)) + 1,
    ...OWN_COLUMN,
    readOnlyReason,
  }
}

/** What holds the key of another record is no number to add up, and no text to write in. */
function asForeignKey(keyField: Field, parentField: Field): void {
  const { storage } = fieldType(parentField.type)
  const isText = storage !== 'id' && storage !== 'integer' && parentField.options.isText !== false
  keyField.type = 'ForeignKey'
  keyField.options = { isText }
  keyField.defaultValue = null
}

const isUnique = ({ primaryKey, uniqueKeys }: TableStructure, column: string): boolean =>
  [primaryKey, ...uniqueKeys].some((key) => key.length === 1 && key[0] === column)

/**
 * True for a table of two references and nothing else but a number of its own and times that fill themselves. Where
 * two records may be paired more than once, or others refer to the pair, it is a thing of its own: a copy in stock.
 */
function isJunction(structure: TableStructure, references: Reference[]): boolean {
  const [own, other] = references
  if (!own || !other || references.length !== 2 || structure.foreignKeys.length !== 2) return false
  if (structure.kind !== 'table' || structure.primaryKey.length === 0 || own.keyField === other.keyField)
    return false
  // Pairs name records by their ids.
  const isById = ({ parent, parentField }: Reference) =>
    parentField.isPrimaryKey && parent.structure.primaryKey.length === 1
  if (!references.every(isById)) return false
  // With a key of one of the two there could be one pair of it only: that is no many-to-many.
  if ([own, other].some(({ keyField }) => isUnique(structure, keyField.columnName))) return false
  const keys = [own.keyField.columnName, other.keyField.columnName]
  const isPairKey = (key: string[]) => key.length === 2 && keys.every((name) => key.includes(name))
  if (![structure.primaryKey, ...structure.uniqueKeys].some(isPairKey)) return false
  return structure.columns.every(
    (column) =>
      keys.includes(column.name) ||
      (column.isAutoIncrement && structure.primaryKey.includes(column.name)) ||
      (column.baseType.startsWith('timestamp') && (column.isNullable || column.defaultExpression !== null)) ||
      (column.baseType === 'datetime' && (column.isNullable || column.defaultExpression !== null)),
  )
}
