import * as z from 'zod/mini'
import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { type Filter, findOperator } from '../../../src/core/filters/index.ts'
import { trimTrailing } from '../../../src/core/trim-characters.ts'
import { VIEW_KINDS, type ViewKind, viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  emptyRecord,
  type SourceConnection,
  type SourceContext,
  type SourceRecord,
  SourceRejection,
  type SourceTable,
  type SourceView,
  sourceNote,
} from '../source.ts'
import { createJsonClient, type Header } from './json-client.ts'
import { cellOf, isFirstSide, isInternal, isLinkColumn, toField } from './nocodb-fields.ts'
import {
  listOf,
  type NocoColumn,
  type NocoFilter,
  type NocoTable,
  type NocoView,
  nocoBase,
  nocoComment,
  nocoCommentCounts,
  nocoFilter,
  nocoRecords,
  nocoSort,
  nocoTable,
  nocoTableRef,
  nocoToken,
  nocoUsers,
  nocoViewColumn,
} from './nocodb-types.ts'
import { isRecord } from './value-types.ts'
import { optionsOfKind } from './view-settings.ts'

const PRODUCT = 'NocoDB'
const PER_SECOND = 50
const PAGE_SIZE = 100
/** Linked records per call. */
const LINKS_PAGE = 1000
/** Most pages of the links of one record. */
const MAX_LINK_PAGES = 1000
const MAX_FILTER_DEPTH = 5

const address = z.string().check(z.trim(), z.minLength(1), z.maxLength(2000))

/** Address of an instance, with an API token or an account. */
export const nocodbCredentials = z.union([
  z.strictObject({ address, token: z.string().check(z.trim(), z.minLength(1), z.maxLength(2000)) }),
  z.strictObject({
    address,
    email: z.string().check(z.trim(), z.minLength(1), z.maxLength(500)),
    password: z.string().check(z.minLength(1), z.maxLength(500)),
  }),
])

/** A table of the instance with its columns, for reading its records. */
interface KnownTable {
  table: NocoTable
  /** At least one. */
  keys: NocoColumn[]
}

/** The id of a record as paths name it: the values of its keys. */
const recordIdOf = ({ keys }: KnownTable, values: Record<string, unknown>): string =>
  keys.map(({ title }) => String(values[title])).join('___')

/** A running instance of NocoDB from 0.200 on, or of Sheaf, which speaks the same API. */
export function openNocodb(
  credentials: z.output<typeof nocodbCredentials>,
  { http, signal }: SourceContext,
): SourceConnection {
  const root = trimTrailing(credentials.address, '/')
  const client = createJsonClient({
    http,
    product: PRODUCT,
    signIn: {
      expires: !('token' in credentials),
      async header(send): Promise<Header> {
        if ('token' in credentials) return ['xc-token', credentials.token]
        const { email, password } = credentials
        const request = { method: 'POST', body: { email, password } } as const
        return ['xc-auth', (await send(`${root}/api/v1/auth/user/signin`, nocoToken, request)).token]
      },
    },
    perSecond: PER_SECOND,
    signal,
    explain,
  })
  const known = new Map<string, KnownTable>()
  let tables: ReadonlyMap<string, NocoTable> = new Map()

  const get = <T>(path: string, schema: z.ZodMiniType<T>): Promise<T> => client.get(`${root}${path}`, schema)

  /** Files are served by the instance, or by the address that it gives. */
  const addressOf = (place: string): string => (/^https?:/.test(place) ? place : `${root}/${place}`)

  async function viewOf(view: NocoView, fields: ReadonlySet<string>): Promise<SourceView> {
    const kind = Object.values(VIEW_KINDS).find(({ wireNumber }) => wireNumber === view.type)?.kind
    const [columns, filters, sorts] = await Promise.all([
      get(`/api/v2/meta/views/${view.id}/columns`, listOf(nocoViewColumn)),
      kind && viewKind(kind).collectsAnswers
        ? { list: [] }
        : get(`/api/v2/meta/views/${view.id}/filters`, listOf(nocoFilter)),
      kind && viewKind(kind).collectsAnswers
        ? { list: [] }
        : get(`/api/v2/meta/views/${view.id}/sorts`, listOf(nocoSort)),
    ])
    const notes = kind ? [] : [m.base_imports_note_view_kind({ kind: String(view.type) })]
    const ordered = columns.list.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0))
    const shown = ordered.flatMap(({ fk_column_id: id, show }) => (id && show && fields.has(id) ? [id] : []))
    const widths = ordered.flatMap(({ fk_column_id: id, width }) => {
      const pixels = Number.parseInt(String(width ?? ''), 10)
      return id && pixels > 0 ? [[id, pixels] as const] : []
    })
    return {
      id: view.id,
      title: view.title,
      kind: kind ?? 'grid',
      visible: shown,
      widths: Object.fromEntries(widths),
      filter: await filterOf(filters.list, fields, notes, 0),
      sorts: sorts.list.flatMap(({ fk_column_id: fieldId, direction }) =>
        fieldId && fields.has(fieldId) ? [{ fieldId, direction: directionOf(direction) }] : [],
      ),
      groups: columns.list
        .filter(({ group_by }) => group_by)
        .toSorted((a, b) => (a.group_by_order ?? 0) - (b.group_by_order ?? 0))
        .flatMap(({ fk_column_id: fieldId, group_by_sort }) =>
          fieldId ? [{ fieldId, direction: directionOf(group_by_sort) }] : [],
        ),
      ...(kind && optionsOf(kind, view.view ?? {})),
      ...rowHeightOf(view.view ?? {}),
      notes,
    }
  }

  async function filterOf(
    list: NocoFilter[],
    fields: ReadonlySet<string>,
    notes: string[],
    depth: number,
  ): Promise<Filter | null> {
    const children: Filter[] = []
    for (const filter of list) {
      if (filter.is_group) {
        if (depth >= MAX_FILTER_DEPTH) continue
        const inner = await get(`/api/v2/meta/filters/${filter.id}/children`, listOf(nocoFilter))
        const group = await filterOf(inner.list, fields, notes, depth + 1)
        if (group) children.push(group)
        continue
      }
      const operator = findOperator(filter.comparison_op ?? '')?.key
      const fieldId = filter.fk_column_id
      if (!operator || !fieldId || !fields.has(fieldId)) {
        notes.push(m.base_imports_note_condition())
        continue
      }
      const operand = filter.comparison_sub_op as Extract<Filter, { operand?: unknown }>['operand']
      children.push({ fieldId, operator, value: filter.value ?? null, ...(operand && { operand }) })
    }
    if (children.length === 0) return null
    return { join: list.at(-1)?.logical_op === 'or' ? 'or' : 'and', children }
  }

  /** The linked records of a record, read from one side of each link. */
  async function linksOf({ table }: KnownTable, column: NocoColumn, recordId: string): Promise<string[]> {
    const related = known.get(String(column.colOptions?.fk_related_model_id))
    if (!related) return []
    const ids: string[] = []
    for (let page = 0; page < MAX_LINK_PAGES; page++) {
      const query = new URLSearchParams({ limit: String(LINKS_PAGE), offset: String(page * LINKS_PAGE) })
      const path = `/api/v2/tables/${table.id}/links/${column.id}/records/${encodeURIComponent(recordId)}`
      const { list, pageInfo } = await get(`${path}?${query}`, nocoRecords)
      for (const record of list) ids.push(recordIdOf(related, record))
      if (pageInfo?.isLastPage !== false || list.length === 0) break
    }
    return ids
  }

  async function toRecord(entry: KnownTable, values: Record<string, unknown>): Promise<SourceRecord> {
    const { table } = entry
    const id = recordIdOf(entry, values)
    const created = table.columns.find(({ uidt, system }) => uidt === 'CreatedTime' && system)
    const record = emptyRecord(id, created ? textIn(values[created.title]) : null)
    for (const column of table.columns) {
      if (isInternal(column)) continue
      const value = values[column.title]
      const { plan } = toField(table, column, tables)
      if (isLinkColumn(column)) {
        if (plan.as !== 'link' || !isFirstSide(table, column, tables)) continue
        record.cells[column.id] = { links: await linkedIds(entry, column, id, value) }
      } else if (plan.as === 'computed') record.computed[column.id] = value ?? null
      else if (plan.as === 'stored') record.cells[column.id] = cellOf(column, value, addressOf)
    }
    return record
  }

  /** The records of a cell, which has all of them, or their number. */
  async function linkedIds(
    entry: KnownTable,
    column: NocoColumn,
    recordId: string,
    value: unknown,
  ): Promise<string[]> {
    const related = known.get(String(column.colOptions?.fk_related_model_id))
    if (value === null || value === undefined || value === 0 || value === '0' || !related) return []
    if (isRecord(value) && related.keys.every(({ title }) => title in value))
      return [recordIdOf(related, value)]
    return linksOf(entry, column, recordId)
  }

  return {
    async bases() {
      return (await get('/api/v2/meta/bases', listOf(nocoBase))).list
    },

    async describe(baseId) {
      const refs = await get(`/api/v2/meta/bases/${encodeURIComponent(baseId)}/tables`, listOf(nocoTableRef))
      const found: NocoTable[] = []
      for (const { id, mm } of refs.list) {
        if (!mm) found.push(await get(`/api/v2/meta/tables/${id}`, nocoTable))
      }
      known.clear()
      for (const table of found) {
        const keys = table.columns.filter(({ pk }) => pk)
        if (keys.length > 0) known.set(table.id, { table, keys })
      }
      tables = new Map([...known].map(([id, { table }]) => [id, table]))
      const described: SourceTable[] = []
      for (const { table } of known.values()) described.push(await toTable(table))
      const keyless = found.filter(({ id }) => !known.has(id))
      return {
        title: '',
        tables: described,
        problems: [
          sourceNote(m.base_imports_note_nocodb()),
          ...keyless.map(
            ({ title }): ImportProblem => ({
              kind: 'skipped',
              tableTitle: title,
              fieldTitle: null,
              viewTitle: null,
              recordId: null,
              reason: m.base_imports_reason_no_key(),
              value: null,
            }),
          ),
        ],
      }
    },

    async people(baseId) {
      try {
        const { users } = await get(`/api/v2/meta/bases/${encodeURIComponent(baseId)}/users`, nocoUsers)
        return users.list
          .filter(({ roles }) => roles && roles !== 'no-access')
          .map(({ id, email, display_name: name }) => ({ id, email: email ?? null, name: name ?? null }))
      } catch (error) {
        if (error instanceof SourceRejection) return []
        throw error
      }
    },

    async records(_baseId, { id }, cursor) {
      const entry = known.get(id)
      if (!entry) throw badRequest(m.base_imports_error_table_gone())
      const offset = Number(cursor ?? 0)
      const query = new URLSearchParams({
        limit: String(PAGE_SIZE),
        offset: String(offset),
        sort: entry.keys.map(({ title }) => title).join(','),
      })
      const { list, pageInfo } = await get(`/api/v2/tables/${id}/records?${query}`, nocoRecords)
      const records: SourceRecord[] = []
      for (const values of list) records.push(await toRecord(entry, values))
      await countComments(id, records)
      const isLast = list.length === 0 || (pageInfo?.isLastPage ?? list.length < PAGE_SIZE)
      return { records, next: isLast ? null : String(offset + list.length) }
    },

    async comments(_baseId, tableId, recordId) {
      const query = new URLSearchParams({ row_id: recordId, fk_model_id: tableId })
      const { list } = await get(`/api/v2/meta/comments?${query}`, listOf(nocoComment))
      return list.map((one) => ({
        id: one.id,
        author: one.author_name
          ? { id: null, email: null, name: one.author_name }
          : { id: null, email: one.created_by_email ?? null, name: null },
        text: one.comment,
        createdAt: one.created_at,
        parentId: one.parent_comment_id,
      }))
    },
  }

  async function toTable(table: NocoTable): Promise<SourceTable> {
    const columns = table.columns.filter((column) => !isInternal(column))
    const ids = new Set(columns.map(({ id }) => id))
    const views: SourceView[] = []
    for (const view of table.views.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0)))
      views.push(await viewOf(view, ids))
    return {
      id: table.id,
      title: table.title,
      description: table.description ?? null,
      primaryFieldId: columns.find(({ pv }) => pv)?.id ?? null,
      fields: columns.map((column) => toField(table, column, tables)),
      views,
      recordCount: null,
    }
  }

  async function countComments(tableId: string, records: SourceRecord[]): Promise<void> {
    if (records.length === 0) return
    const query = new URLSearchParams({ fk_model_id: tableId })
    for (const { id } of records) query.append('ids[]', id)
    const counts = await get(`/api/v2/meta/comments/count?${query}`, nocoCommentCounts)
    const byId = new Map(counts.map(({ row_id, count }) => [String(row_id), count]))
    for (const record of records) record.comments = byId.get(record.id) ?? 0
  }
}

function explain(status: number, body: unknown): Error | null {
  const { message, msg } = (body ?? {}) as { message?: unknown; msg?: unknown }
  if (status === 401) return badRequest(m.base_imports_error_nocodb_credentials())
  const text = [message, msg].find((one) => typeof one === 'string')
  return text === undefined
    ? null
    : new SourceRejection(
        status,
        m.base_imports_error_status({ product: PRODUCT, status: String(text).slice(0, 300) }),
      )
}

const directionOf = (text: string | null | undefined): 'asc' | 'desc' => (text === 'desc' ? 'desc' : 'asc')
const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const HEIGHTS = ['short', 'medium', 'tall', 'extra'] as const

function rowHeightOf({ row_height: height }: Record<string, unknown>): Pick<SourceView, 'rowHeight'> {
  const rowHeight = typeof height === 'number' ? HEIGHTS[height] : undefined
  return rowHeight === undefined ? {} : { rowHeight }
}

/** Options of a kind: its stacks, cover and dates. */
function optionsOf(kind: ViewKind, view: Record<string, unknown>): { options?: object } {
  const { fk_grp_col_id: stack, fk_cover_image_col_id: cover, calendar_range: ranges } = view
  return optionsOfKind(kind, {
    stackFieldId: textIn(stack),
    coverFieldId: textIn(cover),
    ranges: Array.isArray(ranges) ? ranges.flatMap(rangeOf) : null,
  })
}

function rangeOf(range: unknown): { fromFieldId: string; toFieldId: string | null }[] {
  const { fk_from_column_id: from, fk_to_column_id: to } = (range ?? {}) as Record<string, unknown>
  return typeof from === 'string'
    ? [{ fromFieldId: from, toFieldId: typeof to === 'string' ? to : null }]
    : []
}
