import { type SourceServerOptions, startSourceServer } from './source-server.ts'

/** A table of Teable, as its API gives the parts. */
export interface TeableServerTable {
  id: string
  name: string
  description?: string
  fields: { id: string; name: string; type: string; [key: string]: unknown }[]
  views: { id: string; name: string; type: string; [key: string]: unknown }[]
  records: { id: string; createdTime: string; fields: Record<string, unknown> }[]
  /** Comments by record. */
  comments?: Record<string, TeableServerComment[]>
}

interface TeableServerComment {
  id: string
  createdBy: unknown
  createdTime: string
  content: unknown
  /** The comment that it quotes. */
  quoteId?: string
  reaction?: { reaction: string; user: unknown[] }[]
}

export interface TeableServerBase {
  id: string
  name: string
  tables: TeableServerTable[]
  collaborators?: { userId: string; userName: string; email: string }[]
}

export interface TeableServerOptions extends SourceServerOptions {
  bases: TeableServerBase[]
  token?: string
  /** True for a server that counts the comments of a page, as older ones do. */
  countsByPage?: boolean
  /** True for a token that may not read comments. */
  refusesComments?: boolean
}

export type TeableServer = ReturnType<typeof startTeableServer>

/** A server that answers as Teable's API is documented: bases, tables, fields, views, pages of records, comments and files. */
export function startTeableServer(options: TeableServerOptions) {
  const { bases, token = 'teable_test' } = options
  const refuse = (status: number, message: string) => Response.json({ message, status }, { status })

  const server = startSourceServer(options, ({ url, method, headers, body }) => {
    if (headers.get('authorization') !== `Bearer ${token}`) return refuse(401, 'Unauthorized')
    const [api, kind, ...path] = url.pathname.slice(1).split('/')
    if (api !== 'api') return refuse(404, 'Not Found')
    if (kind === 'base') return ofBase(path, url)
    const table = bases.flatMap(({ tables }) => tables).find(({ id }) => id === path[0])
    if (!table) return refuse(404, 'Table not found')
    if (kind === 'table') return ofTable(table, path[1] ?? '', url)
    return kind === 'comment' ? ofComments(table, path.slice(1), method, url, body) : refuse(404, 'Not Found')
  })

  function ofBase([id, part]: string[], url: URL): Response {
    if (id === 'access') return Response.json(bases.map((base) => ({ id: base.id, name: base.name })))
    const base = bases.find((one) => one.id === id)
    if (!base) return refuse(403, 'not allowed to operate base|read')
    if (part === undefined) return Response.json({ id: base.id, name: base.name, spaceId: 'spcX' })
    if (part === 'table')
      return Response.json(base.tables.map(({ id, name, description }) => ({ id, name, description })))
    const all = base.collaborators
    if (!all) return refuse(403, 'not allowed to operate base|read')
    return Response.json({ collaborators: slice(all, url, 50), total: all.length })
  }

  function slice<T>(list: readonly T[], url: URL, fallback: number): T[] {
    const from = Number(url.searchParams.get('skip') ?? 0)
    return list.slice(from, from + Number(url.searchParams.get('take') ?? fallback))
  }

  function ofTable(table: TeableServerTable, part: string, url: URL): Response {
    if (part === 'field') return Response.json(table.fields)
    if (part === 'view') return Response.json(table.views)
    if (part !== 'record') return refuse(404, 'Not Found')
    if (Number(url.searchParams.get('take')) > 2000) return refuse(400, "Can't take more than 2000 records")
    const byId = url.searchParams.get('fieldKeyType') === 'id'
    const keyOf = (id: string) => (byId ? id : (table.fields.find((field) => field.id === id)?.name ?? id))
    return Response.json({
      records: slice(table.records, url, 100).map(({ fields, ...record }) => ({
        ...record,
        // Empty values are left out.
        fields: Object.fromEntries(
          Object.entries(fields)
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([id, value]) => [keyOf(id), withAddresses(value)]),
        ),
      })),
    })
  }

  /** Attachments with addresses relative to this server, which differ in each answer. */
  function withAddresses(value: unknown): unknown {
    if (!Array.isArray(value)) return value
    return value.map((item) =>
      typeof item === 'object' && item !== null && 'mimetype' in item
        ? { ...item, presignedUrl: `/api/attachments/files/${item.token}?token=${Date.now()}` }
        : item,
    )
  }

  function ofComments(
    table: TeableServerTable,
    [first = '', second]: string[],
    method: string,
    url: URL,
    body: Record<string, unknown>,
  ): Response {
    const counted = (ids: readonly string[]) =>
      ids.flatMap((recordId) => {
        const count = table.comments?.[recordId]?.length ?? 0
        return count === 0 ? [] : [{ recordId, count }]
      })
    if (first === 'count') {
      if ((options.countsByPage === true) !== (method === 'GET')) return refuse(404, 'Not Found')
      if (options.refusesComments) return refuse(403, 'not allowed to operate record|comment')
      const ids =
        method === 'GET' ? slice(table.records, url, 100).map(({ id }) => id) : (body.recordIds as string[])
      return Response.json(counted(ids))
    }
    if (second !== 'list') return refuse(404, 'Not Found')
    const all = table.comments?.[first] ?? []
    const cursor = url.searchParams.get('cursor')
    const from = cursor === null ? 0 : all.findIndex(({ id }) => id === cursor)
    const take = Number(url.searchParams.get('take') ?? 20)
    return Response.json({
      comments: all.slice(from, from + take),
      nextCursor: all[from + take]?.id ?? null,
    })
  }

  return { ...server, options }
}
