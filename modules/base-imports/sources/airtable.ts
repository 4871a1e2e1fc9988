import * as z from 'zod/mini'
import { badRequest } from '../../../src/core/errors.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  CursorExpired,
  emptyRecord,
  type SourceBase,
  type SourceComment,
  type SourceConnection,
  type SourceContext,
  type SourcePerson,
  type SourceRecord,
  SourceRejection,
  type SourceTable,
  type SourceView,
  sourceNote,
  wholeList,
} from '../source.ts'
import { type AirtableFields, createAirtableFields } from './airtable-fields.ts'
import {
  type AirtableField,
  type AirtableTable,
  type airtableMention,
  type airtableUser,
  basesAnswer,
  commentsAnswer,
  recordsAnswer,
  tablesAnswer,
} from './airtable-types.ts'
import { createJsonClient } from './json-client.ts'
import { asPercentage, personId } from './value-types.ts'
import { viewKindOf } from './view-settings.ts'

const PRODUCT = 'Airtable'
const PAGE_SIZE = 100

/** Credentials of a personal access token. */
export const airtableCredentials = z.strictObject({
  token: z.string().check(z.trim(), z.minLength(1), z.maxLength(500)),
})

const BASE_ID = /^app[A-Za-z0-9]{1,60}$/

/** The Web API with a personal access token (https://airtable.com/developers/web/api/introduction). */
export function openAirtable(
  { token }: z.output<typeof airtableCredentials>,
  { http, airtableApi, airtablePerSecond, signal }: SourceContext,
): SourceConnection {
  const client = createJsonClient({
    http,
    product: PRODUCT,
    headers: [['authorization', `Bearer ${token}`]],
    perSecond: airtablePerSecond,
    signal,
    explain,
  })
  /** The fields of the tables of the base described last. */
  let known: { fields: AirtableFields; tables: ReadonlyMap<string, AirtableTable> } | null = null

  function get<T>(path: string, query: URLSearchParams, schema: z.ZodMiniType<T>): Promise<T> {
    const text = query.toString()
    return client.get(`${airtableApi}${path}${text === '' ? '' : `?${text}`}`, schema)
  }

  /** All entries of a list with an `offset`. */
  const all = <A extends { offset?: string | null | undefined }, T>(
    path: string,
    schema: z.ZodMiniType<A>,
    entriesOf: (answer: A) => T[],
  ): Promise<T[]> =>
    wholeList(async (offset) => {
      const answer = await get(path, new URLSearchParams(offset === null ? {} : { offset }), schema)
      return { entries: entriesOf(answer), next: answer.offset ?? null }
    })

  return {
    async bases() {
      const found = await all('/v0/meta/bases', basesAnswer, ({ bases }) => bases)
      return found.map(({ id, name }) => ({ id, title: name }))
    },

    async describe(baseId): Promise<SourceBase> {
      if (!BASE_ID.test(baseId)) throw badRequest(m.base_imports_error_base_id())
      const query = new URLSearchParams({ include: 'visibleFieldIds' })
      const { tables } = await get(`/v0/meta/bases/${baseId}/tables`, query, tablesAnswer)
      const fields = createAirtableFields(tables)
      known = { fields, tables: new Map(tables.map((table) => [table.id, table])) }
      const synced = tables.filter((table) => table.fields.some(({ type }) => type === 'externalSyncSource'))
      return {
        title: '',
        tables: tables.map((table) => toTable(fields, table)),
        problems: [
          sourceNote(m.base_imports_note_airtable()),
          ...synced.map(({ name }) => sourceNote(m.base_imports_note_synced_table(), name)),
        ],
      }
    },

    async records(baseId, { id: tableId }, cursor) {
      const table = known?.tables.get(tableId)
      if (!known || !table) throw badRequest(m.base_imports_error_table_gone())
      const query = new URLSearchParams({ pageSize: String(PAGE_SIZE), returnFieldsByFieldId: 'true' })
      query.append('recordMetadata[]', 'commentCount')
      if (cursor !== null) query.set('offset', cursor)
      const { fields } = known
      const answer = await get(`/v0/${baseId}/${tableId}`, query, recordsAnswer)
      return {
        records: answer.records.map((record) => toRecord(fields, table, record)),
        next: answer.offset ?? null,
      }
    },

    async comments(baseId, tableId, recordId): Promise<SourceComment[]> {
      const path = `/v0/${baseId}/${tableId}/${encodeURIComponent(recordId)}/comments`
      const found = await all(path, commentsAnswer, ({ comments }) => comments)
      return found.map(({ id, author, text, createdTime, mentioned, parentCommentId, reactions }) => ({
        id,
        author: commenterOf(author),
        text: withNames(text, mentioned ?? {}),
        createdAt: createdTime,
        parentId: parentCommentId,
        reactions: (reactions ?? []).map(({ emoji, reactingUser }) => ({
          emoji: emoji?.unicodeCharacter ?? '',
          person: commenterOf(reactingUser),
        })),
      }))
    },
  }
}

const commenterOf = (user: z.output<typeof airtableUser> | null | undefined): SourcePerson => ({
  id: user?.id ?? user?.userId ?? null,
  email: user?.email ?? null,
  name: user?.name ?? null,
})

/** A comment with names in place of `@[usrL2PNC5o3H4lBEi]`. */
const withNames = (text: string, mentioned: Record<string, z.output<typeof airtableMention>>): string =>
  text.replace(/@\[(\w{1,40})\]/g, (both, id: string) => {
    const person = mentioned[id]
    const name = person?.displayName ?? person?.name ?? person?.email
    return name ? `@${name}` : both
  })

/** What Airtable answers to an `offset` of an earlier connection. */
const EXPIRED_OFFSETS: ReadonlySet<unknown> = new Set([
  'LIST_RECORDS_ITERATOR_NOT_AVAILABLE',
  'INVALID_OFFSET_VALUE',
])

function explain(status: number, body: unknown): Error | null {
  const error = (body as { error?: unknown } | null)?.error
  const type = typeof error === 'object' && error !== null ? (error as { type?: unknown }).type : error
  if (EXPIRED_OFFSETS.has(type)) return new CursorExpired()
  if (status === 401) return badRequest(m.base_imports_error_airtable_token())
  if (status === 403) return new SourceRejection(status, m.base_imports_error_airtable_scopes())
  if (status === 404) return new SourceRejection(status, m.base_imports_error_airtable_not_found())
  return null
}

function toTable(fields: AirtableFields, table: AirtableTable): SourceTable {
  return {
    id: table.id,
    title: table.name,
    description: table.description ?? null,
    primaryFieldId: table.primaryFieldId ?? null,
    fields: table.fields.map((field) => fields.toField(table, field)),
    views: table.views.map(toView),
    recordCount: null,
  }
}

function toView(view: AirtableTable['views'][number]): SourceView {
  const { id, name, type, visibleFieldIds, personalForUserId } = view
  const notes: string[] = []
  const kind = viewKindOf(type, notes)
  if (personalForUserId) notes.push(m.base_imports_note_personal_view())
  notes.push(m.base_imports_note_view_settings())
  return { id, title: name, kind, visible: visibleFieldIds ?? null, notes }
}

/** A record of the API in the terms of an import. */
export function toRecord(
  fields: AirtableFields,
  table: AirtableTable,
  { id, createdTime, fields: values, commentCount }: z.output<typeof recordsAnswer>['records'][number],
): SourceRecord {
  const record = { ...emptyRecord(id, createdTime ?? null), comments: commentCount ?? null }
  for (const field of table.fields) {
    const value = values[field.id]
    if (fields.isComputed(field)) record.computed[field.id] = computedValue(field, value)
    else record.cells[field.id] = fields.cellOf(field, value)
    if (field.type === 'createdTime') record.createdAt ??= typeof value === 'string' ? value : null
    if (field.type === 'createdBy') record.createdBy = personOf(value)
  }
  return record
}

const personOf = (value: unknown): SourceRecord['createdBy'] => {
  const { id, email, name } = (value ?? {}) as { id?: unknown; email?: unknown; name?: unknown }
  if (typeof email !== 'string' && typeof name !== 'string') return null
  return {
    id: personId(id),
    email: typeof email === 'string' ? email : null,
    name: typeof name === 'string' ? name : null,
  }
}

/** The value of a computed field as ours shows it: percentages that are read through links are not fractions here. */
function computedValue({ type, options }: AirtableField, value: unknown): unknown {
  const isPercent = (options?.result as { type?: unknown } | null)?.type === 'percent'
  if (type === 'formula' || !isPercent) return value ?? null
  const scale = (one: unknown) => asPercentage(one) ?? one
  return Array.isArray(value) ? value.map(scale) : (scale(value) ?? null)
}
