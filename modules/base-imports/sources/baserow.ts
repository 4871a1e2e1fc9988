import * as z from 'zod/mini'
import { badRequest } from '../../../src/core/errors.ts'
import { trimTrailing } from '../../../src/core/trim-characters.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  CursorExpired,
  MAX_PAGES,
  type SourceComment,
  type SourceConnection,
  type SourceContext,
  type SourcePerson,
  type SourceRecord,
  SourceRejection,
  sourceNote,
  wholeList,
} from '../source.ts'
import { type BaserowFields, createBaserowFields } from './baserow-fields.ts'
import {
  type BaserowTable,
  baserowApplication,
  baserowApplications,
  baserowComments,
  baserowFieldOptions,
  baserowFields,
  baserowRowMetadata,
  baserowRows,
  baserowSession,
  baserowTables,
  baserowViews,
  baserowWorkspaces,
} from './baserow-types.ts'
import { toTable } from './baserow-views.ts'
import { createJsonClient, type Header } from './json-client.ts'
import { isRecord, personId } from './value-types.ts'

const PRODUCT = 'Baserow'
/** The hosted version allows ten requests at the same time; these are one after another. */
const PER_SECOND = 50
/** The most that the API gives. */
const PAGE_SIZE = 200
const COMMENTS_PAGE = 100

const text = (max: number) => z.string().check(z.trim(), z.minLength(1), z.maxLength(max))

/** Address of an instance, with a database token or an account. */
export const baserowCredentials = z.union([
  z.strictObject({ address: text(2000), token: text(2000) }),
  z.strictObject({
    address: text(2000),
    email: text(500),
    password: z.string().check(z.minLength(1), z.maxLength(500)),
  }),
])

/** The API's address of an instance; that of the hosted version is another than that of its pages. */
function apiOf(address: string): string {
  const root = trimTrailing(address, '/').replace(/\/api$/, '')
  return `${root.replace(/^https:\/\/(?:www\.)?baserow\.io$/, 'https://api.baserow.io')}/api`
}

/**
 * A running instance of Baserow (https://baserow.io/docs/apis/rest-api). A database token reads tables, fields and rows; an account also
 * reads the titles of databases, views, people and comments.
 */
export function openBaserow(
  credentials: z.output<typeof baserowCredentials>,
  { http, signal }: SourceContext,
): SourceConnection {
  const api = apiOf(credentials.address)
  const hasAccount = !('token' in credentials)
  const client = createJsonClient({
    http,
    product: PRODUCT,
    signIn: {
      // Sessions of accounts last ten minutes.
      expires: hasAccount,
      async header(send): Promise<Header> {
        if ('token' in credentials) return ['authorization', `Token ${credentials.token}`]
        const { email, password } = credentials
        const request = { method: 'POST', body: { email, password } } as const
        const session = await send(`${api}/user/token-auth/`, baserowSession, request)
        const token = session.access_token ?? session.token
        if (session.two_factor_auth || !token) throw badRequest(m.base_imports_error_baserow_second_factor())
        return ['authorization', `JWT ${token}`]
      },
    },
    perSecond: PER_SECOND,
    signal,
    explain,
  })
  let known: {
    fields: BaserowFields
    tables: ReadonlyMap<string, BaserowTable>
    people: ReadonlyMap<number, SourcePerson>
    givesComments: boolean
  } | null = null
  /** Numbers of comments by row, of the table that is being read; null if the server does not tell them. */
  let counted: { tableId: string; counts: ReadonlyMap<string, number> | null } | null = null

  const get = <T>(path: string, schema: z.ZodMiniType<T>): Promise<T> => client.get(`${api}${path}`, schema)

  /** The tables of a database by its id. */
  async function tablesOf(databaseId: string): Promise<{ title: string; tables: TableRef[] }> {
    if (hasAccount) {
      const path = `/applications/${encodeURIComponent(databaseId)}/`
      const { name, tables } = await get(path, baserowApplication)
      return { title: name, tables: tables ?? [] }
    }
    const all = await get('/database/tables/all-tables/', baserowTables)
    const tables = all.filter((table) => String(table.database_id) === databaseId)
    if (tables.length === 0) throw badRequest(m.base_imports_error_baserow_database())
    return { title: '', tables }
  }

  async function readTable({ id, name }: TableRef): Promise<BaserowTable> {
    const fields = await get(`/database/fields/table/${id}/`, baserowFields)
    if (!hasAccount) return { id, name, fields, views: [] }
    const include = 'include=filters,sortings,group_bys,decorations'
    const found = await get(`/database/views/table/${id}/?${include}`, baserowViews)
    const views: BaserowTable['views'] = []
    for (const view of found.toSorted(byOrder)) {
      const { field_options } = await get(`/database/views/${view.id}/field-options/`, baserowFieldOptions)
      views.push({ view, fieldOptions: field_options })
    }
    return { id, name, fields, views }
  }

  /** The people of all workspaces of the account, or of one, by their ids. */
  async function readPeople(workspaceId?: number): Promise<Map<number, SourcePerson>> {
    if (!hasAccount) return new Map()
    const workspaces = await get('/workspaces/', baserowWorkspaces)
    return new Map(
      workspaces
        .filter(({ id }) => workspaceId === undefined || id === workspaceId)
        .flatMap(({ users }) => users ?? [])
        .map(({ user_id, name, email }) => [
          user_id,
          { id: String(user_id), name: name ?? null, email: email ?? null },
        ]),
    )
  }

  const rowsPath = (tableId: string, page: number, size = PAGE_SIZE) =>
    `/database/rows/table/${tableId}/?page=${page}&size=${size}`
  const commentsPath = (tableId: string, rowId: string, page: number) =>
    `/row_comments/${tableId}/${rowId}/?page=${page}&size=${COMMENTS_PAGE}`

  /** True if the server gives comments, which only some of its editions have. */
  async function findComments(tables: readonly BaserowTable[]): Promise<boolean> {
    if (!hasAccount) return false
    for (const { id } of tables) {
      const [row] = (await get(rowsPath(String(id), 1, 1), baserowRows)).results
      if (!row) continue
      try {
        await get(commentsPath(String(id), String(row.id), 1), baserowComments)
        return true
      } catch (error) {
        if (error instanceof SourceRejection) return false
        throw error
      }
    }
    return true
  }

  /** Counts the comments of all rows by the metadata of a grid that shows all of them; null if the table has none such. */
  async function countComments({ views }: BaserowTable): Promise<Map<string, number> | null> {
    const grid = views.find(
      ({ view: { type, filters, filters_disabled } }) =>
        type === 'grid' && (filters_disabled || (filters ?? []).length === 0),
    )
    if (!grid) return null
    const counts = new Map<string, number>()
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = `include=row_metadata&page=${page}&size=${PAGE_SIZE}`
      const answer = await get(`/database/views/grid/${grid.view.id}/?${query}`, baserowRowMetadata)
      if (!answer.row_metadata) return null
      for (const [rowId, { row_comment_count: count }] of Object.entries(answer.row_metadata)) {
        if (count) counts.set(rowId, count)
      }
      if (!answer.next) break
    }
    return counts
  }

  return {
    async bases() {
      if (hasAccount) {
        const found = await get('/applications/', baserowApplications)
        const databases = found.filter(({ type }) => type === 'database')
        return databases.map(({ id, name }) => ({ id: String(id), title: name }))
      }
      const all = await get('/database/tables/all-tables/', baserowTables)
      return [...Map.groupBy(all, (table) => table.database_id)].map(([id, tables]) => ({
        id: String(id),
        title: m.base_imports_database({
          id,
          tables: tables
            .map(({ name }) => name)
            .join(', ')
            .slice(0, 80),
        }),
      }))
    },

    async describe(databaseId) {
      const { title, tables: refs } = await tablesOf(databaseId)
      const people = await readPeople()
      const tables: BaserowTable[] = []
      for (const ref of refs.toSorted(byOrder)) tables.push(await readTable(ref))
      const fields = createBaserowFields(tables, { members: people, hasComputedValues: true })
      const givesComments = await findComments(tables)
      known = {
        fields,
        people,
        givesComments,
        tables: new Map(tables.map((table) => [String(table.id), table])),
      }
      const note = !hasAccount
        ? m.base_imports_note_database_token()
        : givesComments
          ? null
          : m.base_imports_note_no_comments()
      return {
        title,
        tables: tables.map((table) => toTable(table, fields)),
        problems: [m.base_imports_note_baserow(), note].flatMap((one) =>
          one === null ? [] : [sourceNote(one)],
        ),
      }
    },

    async people(databaseId) {
      if (!hasAccount) return []
      const { workspace } = await get(`/applications/${encodeURIComponent(databaseId)}/`, baserowApplication)
      return [...(await readPeople(workspace?.id)).values()]
    },

    async records(_databaseId, { id }, cursor) {
      const table = known?.tables.get(id)
      if (!known || !table) throw badRequest(m.base_imports_error_table_gone())
      const { fields, givesComments } = known
      const page = Number(cursor ?? 1)
      const { results, next } = await get(rowsPath(id, page), baserowRows)
      if (givesComments && counted?.tableId !== id) {
        counted = { tableId: id, counts: await countComments(table) }
      }
      const records = results.map((row): SourceRecord => {
        const record = fields.toRecord(table, row)
        const counts = counted?.tableId === id ? counted.counts : null
        return { ...record, comments: givesComments ? counts && (counts.get(record.id) ?? 0) : null }
      })
      return { records, next: next ? String(page + 1) : null }
    },

    comments: hasAccount
      ? async (_databaseId, tableId, rowId): Promise<SourceComment[] | null> => {
          if (!known?.givesComments) return null
          const found = await wholeList(async (cursor) => {
            const page = Number(cursor ?? 1)
            const { results, next } = await get(commentsPath(tableId, rowId, page), baserowComments)
            return { entries: results, next: next ? String(page + 1) : null }
          })
          const comments = found.map(
            ({ id, user_id: userId, first_name: name, message, comment, created_on }): SourceComment => ({
              id: String(id),
              author: known?.people.get(Number(userId)) ?? {
                id: personId(userId),
                email: null,
                name: name ?? null,
              },
              text: comment ?? documentText(message),
              createdAt: created_on,
            }),
          )
          // Deleted comments have no text.
          return comments.filter(({ text }) => text !== '')
        }
      : null,
  }
}

interface TableRef {
  id: number
  name: string
  order?: number | null | undefined
}

const byOrder = (a: { order?: number | null | undefined }, b: { order?: number | null | undefined }) =>
  (a.order ?? 0) - (b.order ?? 0)

function explain(status: number, body: unknown): Error | null {
  const { error, detail } = isRecord(body) ? body : {}
  // A session that has expired is renewed before this is asked.
  if (status === 401) return badRequest(m.base_imports_error_baserow_credentials())
  // Rows were deleted since the page was counted.
  if (error === 'ERROR_INVALID_PAGE') return new CursorExpired()
  const message = [detail, error].find((one) => typeof one === 'string')
  return message === undefined
    ? null
    : new SourceRejection(
        status,
        m.base_imports_error_status({ product: PRODUCT, status: String(message).slice(0, 300) }),
      )
}

/** The text of a comment: a document of paragraphs with mentions. */
function documentText(node: unknown): string {
  if (!isRecord(node)) return ''
  if (node.type === 'text') return String(node.text ?? '')
  if (node.type === 'mention') return `@${String(isRecord(node.attrs) ? (node.attrs.label ?? '') : '')}`
  if (node.type === 'hardBreak') return '\n'
  const children = Array.isArray(node.content) ? node.content : []
  return children.map(documentText).join(node.type === 'doc' ? '\n' : '')
}
