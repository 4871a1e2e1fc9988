import { type SourceServerOptions, startSourceServer } from './source-server.ts'

export interface BaserowServerField {
  id: number
  name: string
  type: string
  [option: string]: unknown
}

export interface BaserowServerView {
  id: number
  name: string
  type: string
  field_options?: Record<string, object>
  [setting: string]: unknown
}

export interface BaserowServerTable {
  id: number
  name: string
  fields: BaserowServerField[]
  views: BaserowServerView[]
  /** Values by `field_1`. */
  rows: { id: number; [key: string]: unknown }[]
  /** Comments by row. */
  comments?: Record<
    string,
    { id: number; user_id: number; first_name: string; created_on: string; [key: string]: unknown }[]
  >
}

export interface BaserowServerOptions extends SourceServerOptions {
  databases: { id: number; name: string; tables: BaserowServerTable[] }[]
  users?: { user_id: number; name: string; email: string }[]
  /** Of another workspace, without databases. */
  others?: { user_id: number; name: string; email: string }[]
  /** False for an edition without comments. */
  hasComments?: boolean
  /** True for an account with a second factor. */
  asksForSecondFactor?: boolean
}

export type BaserowServer = ReturnType<typeof startBaserowServer>

/**
 * A server that answers as Baserow's API is documented, with the database token `token`, and sessions of the account
 * `ann@example.com` / `secret`, which `expireSessions` ends.
 */
export function startBaserowServer(options: BaserowServerOptions) {
  const { databases } = options
  let session = 1
  const tables = () =>
    databases.flatMap(({ id, tables }) => tables.map((table, order) => ({ table, order, database_id: id })))
  const refuse = (status: number, error: string) => Response.json({ error, detail: error }, { status })

  const server = startSourceServer(options, ({ url, method, headers, body }) => {
    const path = url.pathname
    if (path === '/api/user/token-auth/' && method === 'POST') return signIn(body)
    const authorization = headers.get('authorization') ?? ''
    const hasAccount = authorization.startsWith('JWT ')
    if (hasAccount && authorization !== `JWT session${session}`) return refuse(401, 'ERROR_SIGNATURE_EXPIRED')
    if (!hasAccount && authorization !== 'Token token') return refuse(401, 'ERROR_TOKEN_DOES_NOT_EXIST')
    return (
      ofToken(path, url) ??
      (hasAccount ? (ofAccount(path, url) ?? refuse(404, 'Not found')) : refuse(401, 'JWT only'))
    )
  })

  function signIn({ email, password }: Record<string, unknown>): Response {
    if (email !== 'ann@example.com' || password !== 'secret') return refuse(401, 'ERROR_INVALID_CREDENTIALS')
    if (options.asksForSecondFactor) return Response.json({ two_factor_auth: 'totp', token: 'temporary' })
    return Response.json({
      access_token: `session${session}`,
      token: `session${session}`,
      refresh_token: 'r',
    })
  }

  /** What tokens and accounts may read. */
  function ofToken(path: string, url: URL): Response | null {
    if (path === '/api/database/tables/all-tables/') {
      return Response.json(
        tables().map(({ table: { id, name }, order, database_id }) => ({ id, name, order, database_id })),
      )
    }
    const [, kind, id] = /^\/api\/database\/(fields|rows)\/table\/(\d+)\/$/.exec(path) ?? []
    const found = tables().find(({ table }) => String(table.id) === id)?.table
    if (!kind) return null
    if (!found) return refuse(404, 'ERROR_TABLE_DOES_NOT_EXIST')
    if (kind === 'fields') return Response.json(found.fields)
    return paged(found.rows.map(withAddresses), url)
  }

  function ofAccount(path: string, url: URL): Response | null {
    const applications = databases.map(({ id, name, tables }) => ({
      id,
      name,
      type: 'database',
      workspace: { id: 1, name: 'Work' },
      tables: tables.map((table, order) => ({ id: table.id, name: table.name, order, database_id: id })),
    }))
    if (path === '/api/applications/')
      return Response.json([...applications, { id: 99, name: 'Site', type: 'builder', workspace: null }])
    if (path === '/api/workspaces/')
      return Response.json([
        { id: 1, name: 'Work', users: options.users ?? [] },
        { id: 2, name: 'Others', users: options.others ?? [] },
      ])
    const [, applicationId] = /^\/api\/applications\/(\d+)\/$/.exec(path) ?? []
    if (applicationId) {
      const found = applications.find(({ id }) => String(id) === applicationId)
      return found ? Response.json(found) : refuse(404, 'ERROR_APPLICATION_DOES_NOT_EXIST')
    }
    return ofView(path, url) ?? ofComments(path, url)
  }

  function ofView(path: string, url: URL): Response | null {
    const [, ofTable] = /^\/api\/database\/views\/table\/(\d+)\/$/.exec(path) ?? []
    const parts = (url.searchParams.get('include') ?? '').split(',')
    if (ofTable) {
      const found = tables().find(({ table }) => String(table.id) === ofTable)?.table
      return Response.json(
        (found?.views ?? []).map(
          ({ field_options: _, filters, sortings, group_bys, decorations, ...view }, order) => ({
            order,
            filter_type: 'AND',
            filters_disabled: false,
            ...view,
            ...(parts.includes('filters') && { filters: filters ?? [] }),
            ...(parts.includes('sortings') && { sortings: sortings ?? [] }),
            ...(parts.includes('group_bys') && { group_bys: group_bys ?? [] }),
            ...(parts.includes('decorations') && { decorations: decorations ?? [] }),
          }),
        ),
      )
    }
    const [, viewId, grid] =
      /^\/api\/database\/views\/(\d+)\/field-options\/$/.exec(path) ??
      /^\/api\/database\/views\/grid\/((\d+))\/$/.exec(path) ??
      []
    const owner = tables().find(({ table }) => table.views.some(({ id }) => String(id) === viewId))?.table
    if (!owner) return null
    const view = owner.views.find(({ id }) => String(id) === viewId)!
    if (!grid) return Response.json({ field_options: view.field_options ?? {} })
    const counts = Object.entries(owner.comments ?? {}).map(([id, list]) => [
      id,
      { row_comment_count: list.length },
    ])
    return paged(owner.rows, url, { row_metadata: Object.fromEntries(counts) })
  }

  function ofComments(path: string, url: URL): Response | null {
    const [, tableId, rowId = ''] = /^\/api\/row_comments\/(\d+)\/(\d+)\/$/.exec(path) ?? []
    if (!tableId) return null
    if (options.hasComments === false) return refuse(402, 'ERROR_FEATURE_NOT_AVAILABLE')
    const found = tables().find(({ table }) => String(table.id) === tableId)?.table
    return paged(found?.comments?.[rowId] ?? [], url)
  }

  function paged(list: readonly unknown[], url: URL, more: object = {}): Response {
    const page = Number(url.searchParams.get('page') ?? 1)
    const size = Number(url.searchParams.get('size') ?? 100)
    if (size > 200) return refuse(400, 'ERROR_PAGE_SIZE_LIMIT')
    const results = list.slice((page - 1) * size, page * size)
    if (page > 1 && results.length === 0) return refuse(400, 'ERROR_INVALID_PAGE')
    const next = page * size < list.length ? `${url.origin}${url.pathname}?page=${page + 1}` : null
    return Response.json({ count: list.length, next, previous: null, results, ...more })
  }

  /** Files with addresses of this server. */
  const withAddresses = (row: object) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [
        key,
        Array.isArray(value)
          ? value.map((item) =>
              typeof item === 'object' && item !== null && 'visible_name' in item
                ? { ...item, url: `${server.url}/media/files/${item.name}` }
                : item,
            )
          : value,
      ]),
    )

  return {
    ...server,
    options,
    expireSessions: () => {
      session += 1
    },
  }
}
