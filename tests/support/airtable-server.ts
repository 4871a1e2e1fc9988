import { type SourceServerOptions, startSourceServer } from './source-server.ts'

/** A field of a base at Airtable, as its metadata API gives it. */
export interface AirtableServerField {
  id: string
  name: string
  type: string
  description?: string
  options?: Record<string, unknown>
}

/** A record with its values by field id, as the records API gives them. */
export interface AirtableServerRecord {
  id: string
  createdTime: string
  fields: Record<string, unknown>
  comments?: {
    id: string
    author: { id: string; email: string; name: string }
    text: string
    createdTime: string
    parentCommentId?: string
    mentioned?: Record<string, { type: string; id: string; name?: string; displayName?: string }>
    reactions?: {
      emoji: { unicodeCharacter: string }
      reactingUser: { userId: string; email: string; name?: string }
    }[]
  }[]
}

export interface AirtableServerTable {
  id: string
  name: string
  description?: string
  primaryFieldId: string
  fields: AirtableServerField[]
  views: { id: string; name: string; type: string; visibleFieldIds?: string[] }[]
  records: AirtableServerRecord[]
}

export interface AirtableServerBase {
  id: string
  name: string
  tables: AirtableServerTable[]
}

export interface AirtableServerOptions extends SourceServerOptions {
  bases: AirtableServerBase[]
  token?: string
  /** Airtable gives up to 100. */
  commentsPerPage?: number
}

export type AirtableServer = ReturnType<typeof startAirtableServer>

const PAGE_SIZE = 100

/**
 * A server that answers as Airtable's Web API is documented: metadata, pages of records with an `offset`, comments, files;
 * with rate limits and failures.
 */
export function startAirtableServer(options: AirtableServerOptions) {
  const { bases, token = 'pat-test' } = options
  /** Offsets that clients may use; cleared by `expireOffsets`. */
  const offsets = new Map<string, number>()

  const error = (status: number, type: string, message = type) =>
    Response.json({ error: { type, message } }, { status })

  function records(table: AirtableServerTable, url: URL): Response {
    const offset = url.searchParams.get('offset')
    if (offset !== null && !offsets.has(offset)) return error(422, 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE')
    const from = offset === null ? 0 : (offsets.get(offset) ?? 0)
    const size = Math.min(PAGE_SIZE, Number(url.searchParams.get('pageSize') ?? PAGE_SIZE))
    const page = table.records.slice(from, from + size)
    const next = from + size < table.records.length ? `itr${table.id}/${from + size}` : null
    if (next !== null) offsets.set(next, from + size)
    const withCounts = url.searchParams.getAll('recordMetadata[]').includes('commentCount')
    return Response.json({
      records: page.map(({ id, createdTime, fields, comments }) => ({
        id,
        createdTime,
        // Empty values are left out.
        fields: Object.fromEntries(
          Object.entries(fields)
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([key, value]) => [key, withAddresses(value)]),
        ),
        ...(withCounts && { commentCount: comments?.length ?? 0 }),
      })),
      ...(next !== null && { offset: next }),
    })
  }

  /** Attachments with addresses of this server, which differ in each answer. */
  function withAddresses(value: unknown): unknown {
    if (!Array.isArray(value)) return value
    return value.map((item) => {
      const isFile = typeof item === 'object' && item !== null && 'filename' in item
      return isFile ? { ...item, url: `${server.url}/files/${item.id}?expires=${Date.now()}` } : item
    })
  }

  function answer(url: URL, authorization: string | null): Response {
    if (authorization !== `Bearer ${token}`)
      return error(401, 'AUTHENTICATION_REQUIRED', 'Authentication required')
    if (url.pathname === '/v0/meta/bases') {
      return Response.json({ bases: bases.map(({ id, name }) => ({ id, name, permissionLevel: 'create' })) })
    }
    const [, metaBase] = /^\/v0\/meta\/bases\/(\w+)\/tables$/.exec(url.pathname) ?? []
    const [, dataBase, tableId, recordId] =
      /^\/v0\/(app\w+)\/(\w+)(?:\/(\w+)\/comments)?$/.exec(url.pathname) ?? []
    const base = bases.find(({ id }) => id === (metaBase ?? dataBase))
    if (!base) return error(403, 'INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND')
    if (metaBase) return Response.json({ tables: base.tables.map(({ records: _, ...table }) => table) })
    const table = base.tables.find(({ id }) => id === tableId)
    if (!table) return error(404, 'NOT_FOUND')
    if (recordId === undefined) return records(table, url)
    const comments = table.records.find(({ id }) => id === recordId)?.comments ?? []
    const from = Number(url.searchParams.get('offset') ?? 0)
    const next = from + (options.commentsPerPage ?? 100)
    const offset = next < comments.length ? String(next) : null
    return Response.json({ comments: comments.slice(from, next), offset })
  }

  const server = startSourceServer(options, ({ url, headers }) => answer(url, headers.get('authorization')))

  return {
    ...server,
    options,
    /** Makes all offsets invalid, as Airtable does after some time. */
    expireOffsets: () => offsets.clear(),
  }
}
