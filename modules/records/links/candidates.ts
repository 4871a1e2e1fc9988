import { type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId, RecordPage, View } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { getField, type TableModel } from '../../schema/index.ts'
import { isSearchable, type Opened, type Reader, searchCondition, wholeOf } from '../read/index.ts'
import { isPossibleId, storedId } from '../table/index.ts'
import {
  columnIn,
  idPart,
  isWholeId,
  type LinkSchema,
  type OpenLink,
  openLink,
  relatedHeldByOne,
  tableAs,
} from './relation.ts'

/** Fields shown next to a record’s name in the picker. */
const SECONDARY_FIELDS = 3

/** Limit of linked records that are copied in one call. */
const MAX_LINKED = 10_000

/** A request of the link picker. */
export interface LinkPageRequest {
  tableId: string
  fieldId: string
  /** The record whose links are listed; null for one that does not exist yet. */
  recordId: RecordId | null
  /** Searched in the fields that the picker shows. */
  search?: string
  timeZone?: string
  limit: number
  offset: number
}

/** A page of the related table, the display field first. Without a total, as nothing is counted. */
export interface LinkPage extends RecordPage {
  tableId: string
  hasMore: boolean
}

/** A link’s related table, opened for its linked or its unlinked records. */
export interface OpenedLink extends Opened {
  link: OpenLink
}

export type LinkReads = ReturnType<typeof createLinkReads>

/** Reads through links, for the picker and for REST. */
export function createLinkReads(
  reader: Pick<Reader, 'open' | 'openForm' | 'openNames' | 'page' | 'readOne'>,
  schema: LinkSchema,
) {
  /**
   * The related table of a link, narrowed to the records that are linked to a record, or can be.
   * `linkable`: not linked to it yet, and shown by the view that limits the link, where one does.
   *
   * By a link to a view the names of records that are linked to one of its own, through a field that it shows.
   *
   * @throws FIELD_NOT_FOUND; RECORD_NOT_FOUND; BAD_REQUEST for a field that is no link; PERMISSION_DENIED;
   *   FORBIDDEN by a link to a view for what can be linked, unless the view is a form that asks for it
   */
  async function openLinked(
    actor: Actor,
    { tableId, fieldId, recordId, timeZone }: Omit<LinkPageRequest, 'limit' | 'offset' | 'search'>,
    which: 'linked' | 'linkable',
  ): Promise<OpenedLink> {
    const own = await openOwn(actor, tableId, which === 'linkable' && recordId === null)
    const { error } = getField(own.model, fieldId)
    // The error of a field may name fields that a visitor does not see.
    if (own.context.whole && error !== null) throw badRequest(error)
    const link = await openLink(schema, wholeOf(own.context), fieldId)
    const id = recordId === null ? null : storedId(own.model, recordId)
    const isThere = async (recordId: RecordId) =>
      isPossibleId(own.model, recordId) && (await reader.readOne(own, recordId, [])) !== null
    if (id !== null && !(await isThere(id))) throw notFound('Record', String(id))
    if (own.context.whole && which !== (id === null ? 'linkable' : 'linked')) throw notAllowed()
    const viewId = which === 'linkable' ? link.options.viewId : null
    const opened = await openRelated(actor, link.related.table.id, viewId, timeZone)
    if (id === null) {
      // A form response must not take linked records away from others.
      const narrow = own.context.whole && relatedHeldByOne(link) ? unheld(link) : undefined
      return { ...opened, link, context: { ...opened.context, narrow } }
    }
    const narrow = linkedTo(link, id, { not: which === 'linkable' })
    return { ...opened, link, context: { ...opened.context, narrow } }
  }

  /** @param isPicker true for the candidates of a new record, which forms offer */
  async function openOwn(actor: Actor, tableId: string, isPicker: boolean): Promise<Opened> {
    if (actor.kind === 'share' && actor.grant.kind === 'view') {
      return isPicker ? reader.openForm(actor, tableId) : reader.open(actor, tableId)
    }
    return reader.open(actor, tableId)
  }

  async function openRelated(
    actor: Actor,
    tableId: string,
    viewId: string | null,
    timeZone: string | undefined,
  ): Promise<Opened> {
    const open = (viewId: string | null) =>
      actor.kind === 'share' && actor.grant.kind === 'view'
        ? reader.openNames(actor, tableId, viewId, timeZone)
        : reader.open(actor, tableId, viewId ?? undefined, timeZone)
    try {
      return await open(viewId)
    } catch (error) {
      // A deleted view no longer limits the candidates.
      if (viewId === null || !(error instanceof AppError) || error.code !== 'VIEW_NOT_FOUND') throw error
      return open(null)
    }
  }

  async function page(
    actor: Actor,
    request: LinkPageRequest,
    which: 'linked' | 'linkable',
  ): Promise<LinkPage> {
    const opened = await openLinked(actor, request, which)
    const { model, link } = opened
    const { search, limit, offset } = request
    const fields = shownFields(opened, link)
    // One more than requested shows whether there are more, without a count.
    const query = { tableId: model.table.id, offset, limit: limit + 1 }
    const found = search === undefined ? opened : findIn(opened, search, fields)
    const { ids, rows } = await reader.page(found, query, fields)
    return {
      tableId: model.table.id,
      fieldIds: fields.map((field) => field.id),
      ids: ids.slice(0, limit),
      rows: rows.slice(0, limit),
      offset,
      hasMore: rows.length > limit,
    }
  }

  /** The ids of all records linked to a record. @throws as `openLinked`; BAD_REQUEST past `MAX_LINKED` */
  async function linkedIds(
    actor: Actor,
    place: Pick<LinkPageRequest, 'tableId' | 'fieldId' | 'recordId'>,
  ): Promise<RecordId[]> {
    const opened = await openLinked(actor, place, 'linked')
    const query = { tableId: opened.model.table.id, limit: MAX_LINKED + 1, offset: 0 }
    const { ids } = await reader.page(opened, query, [])
    if (ids.length > MAX_LINKED)
      throw new AppError('BAD_REQUEST', m.records_error_copied_links({ max: MAX_LINKED }))
    return ids
  }

  return {
    openLinked,
    linkedIds,
    /** A page of the records linked to a record. @throws as `openLinked` */
    linked: (actor: Actor, request: LinkPageRequest) => page(actor, request, 'linked'),
    /** A page of the records that can be linked to a record. @throws as `openLinked` */
    linkable: (actor: Actor, request: LinkPageRequest) => page(actor, request, 'linkable'),
  }
}

/**
 * Narrows a page to records with the text in a shown field. Those with the text in their name come first: Enter
 * selects the first one.
 */
function findIn({ context, ...opened }: Opened, text: string, fields: readonly Field[]): Opened {
  const searched = fields.filter(isSearchable)
  const found = searchCondition(context, text, searched.length > 0 ? searched : fields)
  const leading = searchCondition(context, text, [context.model.displayField])
  const narrow = context.narrow ? sql`${context.narrow} and ${found}` : found
  return { ...opened, context: { ...context, narrow, leading } }
}

const notAllowed = () => new AppError('FORBIDDEN', `Forbidden - ${m.shares_error_not_allowed()}`)

/** The display field, and a few fields that distinguish records of the same name. */
function shownFields({ model, context }: Opened, { options }: OpenLink): Field[] {
  const order = orderIn(options.viewId === null ? null : context.view)
  const others = model.fields.filter(
    (field) =>
      !field.isSystem &&
      !field.isPrimaryKey &&
      field.id !== model.displayField.id &&
      !isForeignKey(field) &&
      fieldType(field.type).computed !== 'link' &&
      order(field) !== null,
  )
  const sorted = others.toSorted((a, b) => (order(a) ?? 0) - (order(b) ?? 0))
  return [model.displayField, ...sorted.slice(0, SECONDARY_FIELDS)]
}

/** The position of a field in a view; null if the view hides it. */
function orderIn(view: View | null): (field: Field) => number | null {
  if (!view) return (field) => field.order
  const lines = new Map(view.fields.map((line) => [line.fieldId, line]))
  return ({ id }) => {
    const line = lines.get(id)
    return line?.show ? line.order : null
  }
}

/** Aliases that no table name equals. */
const OWN = '~own'
const PAIR = '~pair'

/**
 * The condition on the related table’s records that they are linked to a record, or (`not`) that they are not. The
 * related table has its own name in the statement. Uses the indexes of keys and junctions even if nearly all of a
 * large table matches.
 */
function linkedTo(link: OpenLink, recordId: RecordId, { not }: { not: boolean }): SQL {
  const { relation, model, related } = link
  if (relation.kind === 'pairs') {
    const [own, target] = [link.options.junction?.ownFieldId, link.options.junction?.relatedFieldId].map(
      (id) => {
        const field = relation.junction.field(id ?? '')
        if (!field) throw new Error(`Junction ${relation.junction.table.id} lacks a key`)
        return columnIn(PAIR, field)
      },
    ) as [SQL, SQL]
    const pairs = sql`${tableAs(relation.junction, PAIR)} where ${own} = ${recordId}`
    const id = inTable(related, related.primaryKey)
    return not
      ? sql`not exists (select 1 from ${pairs} and ${target} = ${id})`
      : sql`${id} in (select ${target} from ${pairs})`
  }
  const { key, parentField } = relation
  const ownRecord = sql`${tableAs(model, OWN)} where ${idPart(model, OWN, 'id').isIn([recordId])}`
  if (link.options.holdsKey) {
    const target = inTable(related, parentField)
    return not
      ? sql`not exists (select 1 from ${ownRecord} and ${columnIn(OWN, key)} = ${target})`
      : sql`${target} = (select ${columnIn(OWN, key)} from ${ownRecord})`
  }
  const held = inTable(related, key)
  const value = isWholeId(model, parentField)
    ? sql`${recordId}`
    : sql`(select ${columnIn(OWN, parentField)} from ${ownRecord})`
  return not ? sql`(${held} is null or ${held} <> ${value})` : sql`${held} = ${value}`
}

/** The condition on the related table’s records that no record is linked to them, for links that allow one. */
function unheld({ relation, options, model, related }: OpenLink): SQL {
  if (relation.kind === 'pairs') throw new Error(`Link ${options.inverseFieldId} lets many hold each record`)
  const { key, parentField } = relation
  if (!options.holdsKey) return sql`${inTable(related, key)} is null`
  return sql`not exists (select 1 from ${tableAs(model, OWN)} where ${columnIn(OWN, key)} = ${inTable(related, parentField)})`
}

const inTable = (model: TableModel, field: Field): SQL => columnIn(model.table.tableName, field)
