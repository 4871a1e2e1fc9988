import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { jsonText } from '../../../src/wire/answer.ts'
import { readLimit } from '../../../src/wire/lists.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { MAX_STACKED, MAX_STACKS, type RestGroups } from './groups.ts'
import type { RestLists } from './list.ts'
import type { LinkedCounts } from './nested.ts'
import { queryOf } from './parameters.ts'

/**
 * Lists in one answer by the alias of each, as the grouped grid of NocoDB's web client reads them. Each item of the
 * body has the parameters of a list. All lists together have at most `MAX_STACKED` records; the `pageInfo` of each
 * names its limit.
 *
 * @param read reads a list by its query string, and counts the linked records of all lists
 * @throws BAD_REQUEST for a body that is no list of objects, or has more than `MAX_STACKS`, and for an answer of more than
 *   `MAX_TEXT`
 */
export async function listsByAlias(
  body: unknown,
  read: (search: string, linked: LinkedCounts) => Promise<object>,
): Promise<Response> {
  if (!Array.isArray(body) || body.length === 0 || !body.every(isItem)) throw badRequest(INVALID)
  if (body.length > MAX_STACKS) throw badRequest(m.records_error_bulk_lists({ max: MAX_STACKS }))
  const share = Math.ceil(MAX_STACKED / body.length)
  const lists = new Map<string, string>()
  let length = 0
  const linked: LinkedCounts = new Map()
  // Sequentially: others wait for the same threads.
  for (const item of body) {
    const query = parametersOf(item)
    query.set('limit', String(Math.min(readLimit(query.get('limit') ?? query.get('l')), share)))
    const list = JSON.stringify(await read(query.toString(), linked))
    length += list.length
    if (length > MAX_TEXT) throw badRequest(m.records_error_bulk_text({ max: MAX_TEXT / 1024 ** 2 }))
    lists.set(String(item.alias), list)
  }
  const members = [...lists].map(([alias, list]) => `${JSON.stringify(alias)}:${list}`)
  return jsonText(`{${members.join()}}`, 201)
}

/** Characters of all lists: they may name the same long texts again and again. */
const MAX_TEXT = 64 * 1024 ** 2

type Item = Record<string, unknown>

const INVALID = 'Invalid bulkFilterList'

const isItem = (item: unknown): item is Item =>
  typeof item === 'object' && item !== null && !Array.isArray(item) && isText((item as Item).alias)

/** True for values that a query string could have. */
const isText = (value: unknown): boolean => typeof value !== 'object' || value === null

/** Parameters whose value is JSON in a query string, by their names in a body. */
const JSON_PARAMETERS: Readonly<Record<string, string>> = {
  filterArr: 'filterArrJson',
  filterArrJson: 'filterArrJson',
  sortArr: 'sortArrJson',
  sortArrJson: 'sortArrJson',
}

/** An item of the body as the query string of a list. */
function parametersOf(item: Item): URLSearchParams {
  const query = new URLSearchParams()
  // Appended: to set one searches all others.
  for (const [name, value] of Object.entries(item)) {
    if (value === null || value === undefined || name === 'alias') continue
    const jsonName = Object.hasOwn(JSON_PARAMETERS, name) ? JSON_PARAMETERS[name] : undefined
    if (jsonName !== undefined)
      query.append(jsonName, typeof value === 'string' ? value : JSON.stringify(value))
    else if (Array.isArray(value)) {
      if (!value.every(isText)) throw badRequest(INVALID)
      for (const part of value) query.append(`${name}[]`, String(part))
    } else if (isText(value)) query.append(name, String(value))
  }
  return query
}

/** Several lists or groupings in one call: `POST /api/v2/tables/{tableId}/bulk/dataList` and `…/bulk/group`. */
export function bulkListsRest(
  kernel: Kernel,
  { auth, lists, groups }: { auth: AuthService; lists: RestLists; groups: RestGroups },
) {
  const viewOf = (request: Request) => new URLSearchParams(queryOf(request)).get('viewId') ?? undefined
  const list = async ({ actor, params: { tableId }, request, body }: Call) => {
    const viewId = viewOf(request)
    await lists.enter(actor, tableId, viewId)
    const read = (search: string, linked: LinkedCounts) =>
      lists.list(actor, tableId, search, viewId, { linked })
    return listsByAlias(body, read)
  }
  const groupBy = async ({ actor, params: { tableId }, request, body }: Call) => {
    const viewId = viewOf(request)
    await lists.enter(actor, tableId, viewId)
    const read = (search: string) => groups.groupBy(actor, tableId, new URLSearchParams(search), viewId)
    return listsByAlias(body, read)
  }
  return (
    new Elysia({ prefix: '/api/v2/tables/:tableId/bulk', tags: ['Records'] })
      .use(restBase(kernel, auth))
      .post('/dataList', list, { detail: { summary: 'Read several lists of records' } })
      // NocoDB ignores case, and clients write it either way.
      .post('/datalist', list)
      .post('/group', groupBy, { detail: { summary: 'Count the records of several groupings' } })
  )
}

interface Call {
  actor: Actor
  params: { tableId: string }
  request: Request
  body: unknown
}
