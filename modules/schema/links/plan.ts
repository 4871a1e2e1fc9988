import { z } from 'zod'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { isSingleLink, type LinkOptions, linkOptions } from '../../../src/core/fields/link-options.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { pluralOf, singularOf } from '../../../src/core/nouns.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Statement } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { ChangeContext, SchemaContext } from '../change/index.ts'
import {
  columnOf,
  type FieldSlots,
  openSlots,
  requireRoom,
  type SlotField,
  type TableModel,
} from '../model/index.ts'
import { buildJunction } from './junction.ts'
import type { LinkTarget } from './values.ts'

/** Both ends of a new link; the same slots twice for a table that is linked with itself. */
export interface Ends {
  own: FieldSlots
  related: FieldSlots
}

/** The new foreign key or junction table of a link. */
export interface LinkStorage {
  statements: MetaStatement[]
  tableIds: string[]
  /** The columns that hold the links. */
  target: LinkTarget
}

/** The type and options of a new link field, without the ids of its storage and reverse. */
export function linkDefinition(
  { related }: Ends,
  type: Field['type'],
  link: NewLink,
): Pick<Field, 'type' | 'options'> {
  const name = related.model.table.title
  const options: LinkOptions = {
    ...linkOptions.parse({}),
    kind: link.kind,
    relatedTableId: related.model.table.id,
    viewId: link.viewId ?? null,
    singular: link.singular || singularOf(name),
    plural: link.plural || pluralOf(name),
  }
  // The single side of a link is always a LinkToAnotherRecord.
  return { type: isSingleLink(link) ? 'LinkToAnotherRecord' : type, options }
}

/** @throws TABLE_NOT_FOUND for a table of another base */
export async function requireRelated(
  { store }: SchemaContext,
  baseId: string,
  tableId: string,
): Promise<void> {
  const { table } = await store.load(tableId)
  if (table.baseId !== baseId) throw notFound('Table', tableId)
}

/** The slots for new fields in both tables. @throws BAD_REQUEST if one of them is full */
export async function openEnds({ store }: SchemaContext, tableId: string, relatedId: string): Promise<Ends> {
  const slotsOf = async (id: string) => {
    const model: TableModel = await store.load(id)
    requireRoom(model)
    return openSlots(model, await store.listFields(id))
  }
  const own = await slotsOf(tableId)
  return { own, related: relatedId === tableId ? own : await slotsOf(relatedId) }
}

/** hm, bt, oo: adds an indexed foreign key to the child table. */
export function addForeignKey(
  { own, related }: Ends,
  field: Field,
  link: NewLink,
  required: boolean,
  suffix: string,
): LinkStorage {
  const holdsKey = link.kind === 'bt' || (link.kind === 'oo' && link.holdsKey)
  const [child, parent] = holdsKey ? [own, related] : [related, own]
  const name = child.keyName(parent.model.table.tableName + suffix)
  const key = child.add({
    title: name,
    columnName: name,
    type: 'ForeignKey',
    options: { isText: false },
    required,
  })
  const parentFieldId = parent.model.primaryKey.id
  field.options = { ...field.options, keyFieldId: key.id, parentFieldId, holdsKey }
  field.required = required
  // The key comes before the link that reads it, as in the REST API.
  if (child === own && own.added.includes(field)) [field.order, key.order] = [key.order, field.order]
  return {
    statements: [],
    tableIds: [],
    target: { tableName: child.model.table.tableName, ownColumn: null, column: name },
  }
}

/** mm: creates a junction table. */
export async function addJunction(
  context: SchemaContext,
  change: ChangeContext,
  actorId: string | null,
  { own, related }: Ends,
  field: Field,
  link: NewLink,
  suffix: string,
): Promise<LinkStorage> {
  const built = await buildJunction(context, change, actorId, own.model, related.model, suffix)
  field.options = { ...field.options, junction: built.junction, holdsKey: false, kind: link.kind }
  return { statements: built.statements, tableIds: [built.junction.tableId], target: built.target }
}

/** Adds the reverse field to the related table, unless the link has none. */
export function addInverse({ own, related }: Ends, field: Field, link: NewLink): void {
  if (!link.createInverse) return
  const { keyFieldId, parentFieldId, holdsKey, junction, kind } = field.options as LinkOptions
  const name = own.model.table.title
  const inverseKind = kind === 'hm' ? 'bt' : kind === 'bt' ? 'hm' : kind
  const isSingle = isSingleLink({ kind: inverseKind })
  const options: LinkOptions = {
    ...linkOptions.parse({}),
    kind: inverseKind,
    relatedTableId: own.model.table.id,
    inverseFieldId: field.id,
    keyFieldId,
    parentFieldId,
    holdsKey: keyFieldId !== null && !holdsKey,
    junction: junction && {
      tableId: junction.tableId,
      ownFieldId: junction.relatedFieldId,
      relatedFieldId: junction.ownFieldId,
    },
    singular: singularOf(name),
    plural: pluralOf(name),
  }
  const inverse: SlotField = {
    title: related.freeTitle(isSingle ? singularOf(name) : pluralOf(name)),
    type: isSingle ? 'LinkToAnotherRecord' : kind === 'mm' ? field.type : 'Links',
    options,
    // Within one table the reverse would show each link twice, so it is hidden (wire §8.2).
    isSystem: own === related,
    required: inverseKind === 'bt' && field.required,
  }
  field.options = { ...field.options, inverseFieldId: related.add(inverse).id }
}

/** The statements that add the reverse field of a new link to the views of its table. */
export async function placeInverse(
  { views }: Pick<SchemaContext, 'views'>,
  { related }: Ends,
  { options }: Field,
): Promise<MetaStatement[]> {
  const inverse = related.added.find(({ id }) => id === options.inverseFieldId)
  return inverse && !inverse.isSystem && views ? views.forReverse(related.model, inverse) : []
}

/** The statements that add the columns of the new fields, with indexes. */
export function columnStatements(
  { engine: { dialect } }: ChangeContext,
  { own, related }: Ends,
): Statement[] {
  return [...new Set([own, related])].flatMap(({ model: { table }, added }) =>
    added
      .filter((field) => field.columnName !== '')
      .flatMap((field) => [
        ...columnOf(field).flatMap((column) => dialect.addColumn(table.tableName, column)),
        ...dialect.createIndex(table.tableName, [field.columnName]),
      ]),
  )
}

const id = z.string().min(1).max(64)
const label = z.string().trim().max(255).optional()

/** The options of a new link; its parts get their ids when they are created. */
const newLink = z.object({
  kind: z.enum(['hm', 'bt', 'mm', 'oo']),
  relatedTableId: id,
  /** False adds no reverse field to the related table. */
  createInverse: z.boolean().default(true),
  /** oo: true puts the key into this table instead of the related one. */
  holdsKey: z.boolean().default(false),
  viewId: id.nullish(),
  singular: label,
  plural: label,
})

/** The parsed options of a new link. */
export type NewLink = z.output<typeof newLink>

/** @throws BAD_REQUEST naming the missing or invalid option */
export function readNewLink(options: FieldOptions | undefined): NewLink {
  const read = newLink.safeParse(options ?? {})
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new AppError(
    'BAD_REQUEST',
    m.schema_error_link_option({ option: issue?.path.join('.') ?? '', problem: issue?.message ?? '' }),
    { issues: read.error.issues },
    'msg',
  )
}

/** @throws BAD_REQUEST for database views, junction tables, and tables of a connected database */
export async function requireLinkable(
  { store }: Pick<SchemaContext, 'store'>,
  tables: [Table, Table],
): Promise<void> {
  const ownSourceId = await store.ownSourceId(tables[0].baseId)
  for (const table of tables) {
    if (table.kind === 'view') throw badRequest(m.schema_error_link_database_view({ table: table.title }))
    if (table.isJunction) throw badRequest(m.schema_error_link_junction({ table: table.title }))
    if (table.sourceId !== ownSourceId) {
      throw badRequest(m.schema_error_link_connected({ table: table.title }))
    }
  }
}

/** @throws BAD_REQUEST for a view of another table */
export async function requireViewOf(
  { store, views }: Pick<SchemaContext, 'store' | 'views'>,
  tableId: string,
  viewId: string | null | undefined,
): Promise<void> {
  if (viewId == null) return
  const model = await store.load(tableId)
  const found = await views.ofTable(model)
  if (found.some((view) => view.id === viewId)) return
  throw badRequest(m.schema_error_link_view({ table: model.table.title }))
}
