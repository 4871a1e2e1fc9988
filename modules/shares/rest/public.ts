import { Elysia } from 'elysia'
import { type AddressBook, clientAddress } from '../../../src/caller.ts'
import type { ShareActor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
import type { RecordId, View, ViewKind } from '../../../src/core/model.ts'
import type { ShareKind } from '../../../src/core/shares.ts'
import { VIEW_KINDS } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { readMultipart } from '../../../src/multipart.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { mediaTypeOf } from '../../../src/wire/media-type.ts'
import { restBase, tooLargeForAnonymous } from '../../../src/wire/rest-base.ts'
import { asVisitor, passwordIn, type ShareRow } from '../../auth/index.ts'
import { createRestReads, EXPORT_JOB, fileAnswer, type SharedForm } from '../../records/index.ts'
import { presentShared } from '../../schema/index.ts'
import { presentSharedView } from '../../views/index.ts'
import type { ReadAnswers } from '../form-answers.ts'
import type { RestServices } from './manage.ts'

const PREFIXES = ['/api/v1/db/public', '/api/v2/public']

/** View kinds that show records. */
const SHOWING = Object.values(VIEW_KINDS).flatMap((one) => (one.collectsAnswers ? [] : [one.kind]))

/** The API document lists these routes as needing no token. */
const OPEN = { tags: ['Public'], security: [] }

interface Call {
  params: { uuid: string }
  request: Request
  server: AddressBook | null
}

/** Reading by public links, and answering forms (wire §17). */
export function publicRest(kernel: Kernel, services: RestServices) {
  const app = new Elysia()
  for (const prefix of PREFIXES) {
    app.use(routesOfViews(prefix, kernel, services)).use(otherRoutes(prefix, kernel, services))
  }
  app.use(exportRoute(kernel, services))
  return app
}

const queryOf = ({ request }: Pick<Call, 'request'>) => new URL(request.url).searchParams

/** These routes take the password from the header. */
const linkRequest = (config: Kernel['config'], kind: ShareKind, call: Call) => ({
  kind,
  id: call.params.uuid,
  password: passwordIn(call.request.headers),
  address: clientAddress(config, call.request, call.server),
})

function routesOfViews(
  prefix: string,
  kernel: Kernel,
  { auth, schema, views, records, shares }: RestServices,
) {
  const reads = createRestReads(records, schema, auth)
  const { calendars, lists, groups, links, operations, readFilter, readFooter } = reads

  /** The visitor and view of a link. @throws as `shares.enter`; NOT_FOUND for another kind of view */
  async function enter(
    call: Call,
    kinds: ViewKind[],
  ): Promise<{ actor: ShareActor; view: View; share: ShareRow }> {
    const { row, target } = await shares.enter(linkRequest(kernel.config, 'view', call))
    if (!target.view || !kinds.includes(target.view.kind)) throw wrongKind()
    return { actor: asVisitor(row), view: target.view, share: row }
  }

  /** Query of a list of rows: without `fields` and invalid filters, which clients expect to be ignored. */
  async function listQuery(actor: ShareActor, tableId: string, call: Call): Promise<string> {
    const query = queryOf(call)
    reads.dropParameters(query, 'fields', 'f')
    const { model } = await records.open(actor, tableId)
    try {
      readFilter(model, query)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      reads.dropParameters(query, 'where', 'w', 'filterArrJson')
    }
    return query.toString()
  }

  /** The view with its fields and the people that it may show, without their addresses. */
  async function presentMeta(actor: ShareActor, view: View, share: ShareRow) {
    const model = await schema.load(view.tableId)
    const { baseId, sourceId } = model.table
    const [shownView, shownTable, people] = await Promise.all([
      presentSharedView(views, view.id, share),
      presentShared(schema, model, view),
      records.people(actor, baseId),
    ])
    return {
      ...shownView,
      ...shownTable,
      source: { id: sourceId, type: shownTable.client, is_meta: true, is_local: true },
      users: people.map(({ id, displayName }) => ({ id, display_name: displayName, email: '', meta: null })),
    }
  }

  function submitAnswer(actor: ShareActor, { body, request, server }: Call & { body: unknown }) {
    const read = readAnswer(request, body, operations, kernel.config.anonymousBodyMaxBytes)
    const sender = { address: clientAddress(kernel.config, request, server), headers: request.headers }
    return shares.answers.submit(actor, read, sender)
  }

  /** The record of an answer as the current form shows it: a repeated answer may be an hour old. */
  async function presentAnswer(actor: ShareActor, recordId: RecordId) {
    const form = await records.forms.open(actor)
    const fields = form.model.fields.filter(({ isSystem }) => !isSystem)
    const [row = {}] = await operations.rowsOf(form, [recordId], fields)
    return row
  }

  /** Several lists by their aliases. Unlike `/rows`, refuses an invalid filter. */
  async function listSeveral(call: Call & { body: unknown }): Promise<Response> {
    const { actor, view } = await enter(call, SHOWING)
    return reads.listsByAlias(call.body, (search, linked) =>
      lists.list(actor, view.tableId, search, undefined, { linked }),
    )
  }

  const calendarRoutes = new Elysia({ prefix: `${prefix}/calendar-view/:uuid`, detail: OPEN })
    .use(restBase(kernel, auth))
    .use(UNSTORED)
    .get('/', async (call) => {
      const { actor, view } = await enter(call, ['calendar'])
      return calendars.list(actor, { tableId: view.tableId }, queryOf(call))
    })
    .get('/countByDate', async (call) => {
      const { actor, view } = await enter(call, ['calendar'])
      return calendars.countByDate(actor, { tableId: view.tableId }, queryOf(call))
    })

  const viewRoutes = new Elysia({ prefix: `${prefix}/shared-view/:uuid`, detail: OPEN })
    .use(restBase(kernel, auth))
    .use(UNSTORED)
    .get('/meta', async (call) => {
      const { actor, view, share } = await enter(call, [...SHOWING, 'form'])
      return presentMeta(actor, view, share)
    })
    .get('/rows', async (call) => {
      const { actor, view } = await enter(call, SHOWING)
      return lists.list(actor, view.tableId, await listQuery(actor, view.tableId, call))
    })
    .post(
      '/rows',
      async (call) => {
        const { actor } = await enter(call, ['form'])
        const { recordId, setCookie } = await submitAnswer(actor, call)
        if (setCookie !== null) call.set.headers['set-cookie'] = setCookie
        return presentAnswer(actor, recordId)
      },
      { parse: 'none' },
    )
    .get('/rows/:rowId/:relation/:columnId', async (call) => {
      const { actor, view } = await enter(call, SHOWING)
      const { rowId, relation, columnId } = call.params
      if (!['hm', 'mm'].includes(relation)) throw wrongKind()
      const place = { tableId: view.tableId, column: columnId, recordId: rowId }
      return links.listShared(actor, place, relation, queryOf(call))
    })
    .get('/downloadAttachment/:columnId/:rowId', async (call) => {
      const { actor, view } = await enter(call, SHOWING)
      const { columnId: fieldId, rowId: recordId } = call.params
      const place = queryOf(call).get('urlOrPath') ?? ''
      return reads.downloadLink(records, actor, { tableId: view.tableId, fieldId, recordId }, place)
    })
    .get('/group/:columnId', async (call) => {
      const { actor, view } = await enter(call, SHOWING)
      return groups.byOption(
        actor,
        view.tableId,
        call.params.columnId,
        await listQuery(actor, view.tableId, call),
      )
    })
    .get('/groupby', async (call) => {
      const { actor, view } = await enter(call, ['grid'])
      return groups.groupBy(actor, view.tableId, queryOf(call))
    })
    .post('/bulk/dataList', listSeveral)
    .post('/bulk/datalist', listSeveral)
    .post('/bulk/group', async (call) => {
      const { actor, view } = await enter(call, ['grid'])
      const read = (search: string) => groups.groupBy(actor, view.tableId, new URLSearchParams(search))
      return reads.listsByAlias(call.body, read)
    })
    .get('/groupby/count', async (call) => {
      const { actor, view } = await enter(call, ['grid'])
      return scalar(await groups.count(actor, view.tableId, queryOf(call)))
    })
    .get('/count', async (call) => {
      const { actor, view } = await enter(call, ['grid'])
      const opened = await records.open(actor, view.tableId)
      return { count: await records.countOpened(opened, { filter: readFilter(opened.model, queryOf(call)) }) }
    })
    .get('/aggregate', async (call) => {
      const { actor, view } = await enter(call, ['grid'])
      return readFooter(records, actor, { tableId: view.tableId }, queryOf(call))
    })
    .get('/rows/export/:type', async (call) => {
      const { actor, view } = await enter(call, SHOWING)
      const target = { tableId: view.tableId, viewId: view.id }
      // Fields are named as the visitor sees them.
      const { model } = await records.open(actor, view.tableId)
      const wanted = reads.readExport(model, target, call.params.type, call.request)
      return fileAnswer(await records.exports.stream(actor, wanted))
    })
    .get('/nested/:columnId', async (call) => {
      const { actor, view } = await enter(call, ['form'])
      return links.listOffered(actor, { tableId: view.tableId, column: call.params.columnId }, queryOf(call))
    })
  return new Elysia().use(calendarRoutes).use(viewRoutes)
}

function otherRoutes(prefix: string, kernel: Kernel, { auth, shares }: RestServices) {
  return new Elysia({ prefix, detail: OPEN })
    .use(restBase(kernel, auth))
    .use(UNSTORED)
    .get('/shared-base/:uuid/meta', async (call) => {
      const { row } = await shares.enter(linkRequest(kernel.config, 'base', call))
      return { base_id: row.baseId }
    })
    .get('/shared-erd/:uuid/meta', async (call) => {
      const { row } = await shares.enter(linkRequest(kernel.config, 'erd', call))
      return shares.diagram(asVisitor(row))
    })
}

/** Exports by a job (wire §13.4); its id is the key to the file. */
function exportRoute(kernel: Kernel, { auth, records, shares }: RestServices) {
  return new Elysia({ detail: OPEN })
    .use(restBase(kernel, auth))
    .post('/api/v2/public/export/:uuid/:type', async (call) => {
      const { row, target } = await shares.enter(linkRequest(kernel.config, 'view', call))
      if (!target.view || !SHOWING.includes(target.view.kind)) throw wrongKind()
      const query = { tableId: target.view.tableId, viewId: target.view.id }
      const { jobId } = await records.exports.start(asVisitor(row), { query, format: call.params.type })
      return { id: jobId, name: EXPORT_JOB }
    })
}

/** Proxies must not cache answers: the link may be closed or need a password. */
const UNSTORED = new Elysia({ name: 'unstored' }).derive({ as: 'scoped' }, ({ set }) => {
  set.headers['cache-control'] = 'no-store'
  return {}
})

const wrongKind = (): AppError => new AppError('NOT_FOUND', 'Not found', undefined, 'msg')

type Operations = Pick<ReturnType<typeof createRestReads>['operations'], 'newLinks'>

/**
 * Reads an answer of a REST client (wire §17): multipart with the row as JSON in `data` and files under their
 * fields' titles, or JSON with `data`. Multipart may have `values`, by field id, instead of `data`.
 * @param maxBytes limit of the multipart answers without their files
 */
function readAnswer(request: Request, body: unknown, operations: Operations, maxBytes: number): ReadAnswers {
  const type = request.headers.get('content-type') ?? ''
  return async (form, takeFile) => {
    if (mediaTypeOf(request) !== 'multipart/form-data') {
      return valuesOf(form, (body as { data?: unknown } | null)?.data, operations)
    }
    let data: unknown
    let values: unknown
    for await (const part of readMultipart(request.body ?? emptyBody(), type)) {
      if (part.fileName === null && part.name === 'data') data = await readText(part.body, maxBytes)
      // Sent by our own page, with links as record ids.
      else if (part.fileName === null && part.name === 'values')
        values = parse(await readText(part.body, maxBytes))
      else if (part.fileName) await takeFile({ name: part.name, fileName: part.fileName, body: part.body })
    }
    return isRecord(values) ? values : valuesOf(form, data, operations)
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Values by field id, without keys of other fields. @throws BAD_REQUEST unless `data` is an object */
async function valuesOf(
  form: SharedForm,
  sent: unknown,
  operations: Operations,
): Promise<Record<string, unknown>> {
  const data = typeof sent === 'string' ? parse(sent) : sent
  if (data === undefined || data === null) throw badRequest('Cannot convert undefined or null to object')
  if (typeof data !== 'object' || Array.isArray(data)) throw badRequest(m.forms_error_data())
  const row = data as Record<string, unknown>
  const values: Record<string, unknown> = {}
  for (const field of form.model.fields) {
    if (linkOf(field) === null && Object.hasOwn(row, field.title)) values[field.id] = row[field.title]
  }
  // Links are sent as records: `{"Id":2}`.
  const [links = {}] = await operations.newLinks(form.model, [row], { isVisitor: true })
  return { ...values, ...links }
}

function parse(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(m.forms_error_data_json({ problem: error.message }))
    throw error
  }
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLargeForAnonymous(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
