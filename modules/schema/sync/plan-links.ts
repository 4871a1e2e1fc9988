import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { type LinkOptions, linkOf, linkOptions } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field } from '../../../src/core/model.ts'
import type { ForeignKeyStructure, TableStructure } from '../../../src/db/introspect/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { createTitles, type PlannedForeignTable, withoutKeySuffix } from './plan-table.ts'

/** A message to the user about a table. */
export interface SourceNote {
  table: string
  message: string
}

/** A single-column foreign key between two known fields. */
interface Reference {
  child: PlannedForeignTable
  parent: PlannedForeignTable
  keyField: Field
  parentField: Field
}

const PART_OF_KEY = 'This link is part of the primary key, which can’t be changed'

/**
 * Adds link fields for foreign keys to the tables: one on each side, and for a junction table a many-to-many link between
 * the tables it connects. The key fields become foreign keys.
 *
 * @param isNew selects the foreign keys whose links are missing
 */
export function planLinks(
  tables: PlannedForeignTable[],
  isNew: (child: TableStructure, key: ForeignKeyStructure) => boolean,
): SourceNote[] {
  const byName = new Map(tables.map((table) => [table.structure.name, table]))
  const notes: SourceNote[] = []
  const referenced = new Set(
    tables.flatMap(({ structure }) => structure.foreignKeys.map((key) => key.relatedTable)),
  )
  for (const child of tables) {
    const references: Reference[] = []
    const { foreignKeys } = child.structure
    const missing = foreignKeys.filter((key) => isNew(child.structure, key))
    // The many-to-many link needs both keys of its junction table.
    for (const key of child.table.isJunction && missing.length > 0 ? foreignKeys : missing) {
      const parent = byName.get(key.relatedTable)
      if (!parent) continue
      if (key.columns.length !== 1) {
        notes.push({ table: child.structure.name, message: compositeNote(key) })
        continue
      }
      const keyField =
        fieldOf(child.fields, key.columns[0]) ?? fieldOf(child.former.filter(isForeignKey), key.columns[0])
      const parentField =
        fieldOf(parent.fields, key.relatedColumns[0]) ?? fieldOf(parent.former, key.relatedColumns[0])
      if (keyField && parentField) references.push({ child, parent, keyField, parentField })
    }
    const isBetween = !referenced.has(child.structure.name) && isJunction(child.structure, references)
    // Columns named after the related record, such as `author_id`, get their titles first.
    const ordered = references.toSorted(
      (a, b) => Number(hasKeySuffix(b.keyField)) - Number(hasKeySuffix(a.keyField)),
    )
    for (const reference of ordered) linkBothSides(reference, isBetween)
    const [own, other] = references
    if (isBetween && own && other) {
      child.table.isJunction = true
      linkThrough(own, other)
    }
  }
  return notes
}

/** The field of a column. Links work with keys in the trash as well. */
const fieldOf = (fields: Field[], column: string | undefined): Field | undefined =>
  fields.find((field) => field.columnName === column)

const compositeNote = ({ columns, relatedTable }: ForeignKeyStructure): string =>
  m.schema_note_composite_key({ columns: columns.join(', '), table: relatedTable })

/** Adds the child's link to its parent (bt, or oo if the key is unique) and the parent's reverse link. */
function linkBothSides({ child, parent, keyField, parentField }: Reference, isHidden: boolean): void {
  const isOne = isUnique(child.structure, keyField.columnName)
  makeForeignKey(keyField, parentField)
  const shared: Partial<LinkOptions> = { keyFieldId: keyField.id, parentFieldId: parentField.id }
  const readOnlyReason = keyField.isPrimaryKey ? PART_OF_KEY : keyField.readOnlyReason
  const toParent = newLink(child, {
    type: 'LinkToAnotherRecord',
    title: titleOfLink(child, parent, keyField),
    options: { ...shared, kind: isOne ? 'oo' : 'bt', relatedTableId: parent.table.id, holdsKey: true },
    readOnlyReason,
  })
  // Comes first where both are in one table.
  addLink(child, toParent)
  const toChild = newLink(parent, {
    type: isOne ? 'LinkToAnotherRecord' : 'Links',
    title: titleOfReverse({ child, parent, keyField, parentField }, toParent.title),
    options: { ...shared, kind: isOne ? 'oo' : 'hm', relatedTableId: child.table.id, holdsKey: false },
    readOnlyReason,
    isSystem: isHidden,
  })
  setInverses(toParent, toChild)
  addLink(parent, toChild)
}

const hasKeySuffix = ({ columnName }: Field): boolean => withoutKeySuffix(columnName) !== columnName

/** `author` for a column `author_id`, else the parent's title, with the column name if that is taken. */
function titleOfLink(child: PlannedForeignTable, parent: PlannedForeignTable, { columnName }: Field): string {
  const name = withoutKeySuffix(columnName)
  if (name !== columnName) return name
  const { title } = parent.table
  return child === parent || hasTitle(child, title) ? `${title} (${columnName})` : title
}

/**
 * The child's title, with the link's title if that is taken. A table may have several links with itself: `manager` and
 * `employees (manager)`, `mentor` and `employees (mentor)`.
 */
function titleOfReverse({ child, parent, keyField }: Reference, linkTitle: string): string {
  const { title } = child.table
  if (child !== parent) return hasTitle(parent, title) ? `${title} (${linkTitle})` : title
  const { columnName } = keyField
  const name = withoutKeySuffix(columnName)
  // Without a key suffix the link itself has the title `employees (column)`.
  return name === columnName ? `${title} (${columnName}, reverse)` : `${title} (${name})`
}

/** Adds the many-to-many links of the two tables that a junction table connects. */
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
  const ownLink = link(own, other)
  addLink(own.parent, ownLink)
  const otherLink = link(other, own)
  addLink(other.parent, otherLink)
  setInverses(ownLink, otherLink)
}

const hasTitle = ({ fields }: PlannedForeignTable, title: string): boolean =>
  fields.some((field) => field.title.toLowerCase() === title.toLowerCase())

function setInverses(a: Field, b: Field): void {
  a.options = { ...a.options, inverseFieldId: b.id }
  b.options = { ...b.options, inverseFieldId: a.id }
}

/** Adds a link, in the place of the one that it continues. */
function addLink(table: PlannedForeignTable, link: Field): void {
  table.fields = [...table.fields.filter(({ id }) => id !== link.id), link]
}

/** A link of a table. If the same key or junction table had one before, it keeps its id and the settings that people made. */
function newLink(
  { table, fields, former: known }: PlannedForeignTable,
  link: {
    type: 'Links' | 'LinkToAnotherRecord'
    title: string
    options: Partial<LinkOptions>
    readOnlyReason: string | null
    isSystem?: boolean
  },
): Field {
  const { type, readOnlyReason, isSystem = false } = link
  const options = linkOptions.parse(link.options)
  const former = known.find((field) => isSameEnd(linkOf(field), options))
  const others = fields.filter(({ id }) => id !== former?.id)
  return {
    id: former?.id ?? createId('field'),
    tableId: table.id,
    columnName: '',
    type,
    description: former?.description ?? null,
    title: createTitles(others.map((field) => field.title))(former?.title ?? link.title),
    options: { ...options, ...settingsOf(former) },
    required: false,
    unique: false,
    defaultValue: null,
    isDisplay: false,
    isPrimaryKey: false,
    isSystem,
    order: former?.order ?? Math.max(0, ...fields.map((field) => field.order)) + 1,
    ...OWN_COLUMN,
    readOnlyReason,
  }
}

/** True for the same side of the same relation. */
const isSameEnd = (former: LinkOptions | null, link: LinkOptions): boolean =>
  former !== null &&
  former.relatedTableId === link.relatedTableId &&
  former.keyFieldId === link.keyFieldId &&
  former.holdsKey === link.holdsKey &&
  former.junction?.ownFieldId === link.junction?.ownFieldId

/** The options of a link that are people's choice. */
function settingsOf(link: Field | undefined): Partial<LinkOptions> {
  const options = link && linkOf(link)
  return options ? { viewId: options.viewId, singular: options.singular, plural: options.plural } : {}
}

/** Turns the field of a key column into a foreign key, which is neither aggregated nor edited. */
function makeForeignKey(keyField: Field, parentField: Field): void {
  const { storage } = fieldType(parentField.type)
  const isText = storage !== 'id' && storage !== 'integer' && parentField.options.isText !== false
  keyField.type = 'ForeignKey'
  keyField.options = { isText }
  keyField.defaultValue = null
}

const isUnique = ({ primaryKey, uniqueKeys }: TableStructure, column: string): boolean =>
  [primaryKey, ...uniqueKeys].some((key) => key.length === 1 && key[0] === column)

/**
 * True for a table with two unique references and otherwise only an auto-increment key and timestamps that the database
 * fills. A table that allows the same pair twice is an entity of its own, such as a copy in stock.
 */
function isJunction(structure: TableStructure, references: Reference[]): boolean {
  const [own, other] = references
  if (!own || !other || references.length !== 2 || structure.foreignKeys.length !== 2) return false
  if (structure.kind !== 'table' || structure.primaryKey.length === 0 || own.keyField === other.keyField)
    return false
  // Junction records refer to records by their ids.
  const isById = ({ parent, parentField }: Reference) =>
    parentField.isPrimaryKey && parent.structure.primaryKey.length === 1
  if (!references.every(isById)) return false
  // If one of the two keys is unique by itself, the relation is not many-to-many.
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
