import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { allows, problemsOfDocument } from '../support/openapi.ts'
import { type Door, ended, openImports, upload } from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door
let tableId: string
// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is read here as it comes
let document: any

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
  const created = await app.trpc(owner.token).schema.createTable.mutate({
    baseId: base.id,
    title: 'People',
    fields: [{ title: 'Name', type: 'SingleLineText' }],
  })
  tableId = created.table.id
  document = (await app.rest().get('/api/docs/openapi.json')).body
})
afterAll(() => app.stop())

const FILES = '/api/v2/meta/imports/files'
const IMPORT = '/api/v2/meta/bases/{baseId}/import'
const ANALYSIS = '/api/v2/meta/bases/{baseId}/import/analysis'
const INTO_TABLE = '/api/v2/tables/{tableId}/import'
const INTERNAL = '/api/internal/uploads'
const CSV = 'Name,Due\nAnn,2026-01-02\n'

const operationOf = (path: string, method = 'post') => document.paths[path][method]
const bodyOf = (path: string, type = 'application/json', method = 'post') =>
  operationOf(path, method).requestBody.content[type].schema
const answerOf = (path: string, { method = 'post', status = 200 } = {}) =>
  operationOf(path, method).responses[status].content['application/json'].schema

const fill = (path: string, uploadId = '') =>
  path.replace('{baseId}', base.id).replace('{tableId}', tableId).replace('{uploadId}', uploadId)

async function send(path: string, type: string, body: BodyInit) {
  const headers: Record<string, string> = { 'xc-auth': owner.token }
  if (type !== 'multipart/form-data') headers['content-type'] = type
  const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers, body })
  return { status: answer.status, body: JSON.parse((await answer.text()).split('\n')[0] ?? '') }
}

/** Sends options beside a file in a form. */
function sendForm(path: string, options?: unknown) {
  const form = new FormData()
  form.append('file', new Blob([CSV]), 'people.csv')
  if (options !== undefined) form.append('options', JSON.stringify(options))
  return send(fill(path), 'multipart/form-data', form)
}

const sendJson = (path: string, body: unknown, uploadId?: string) =>
  send(fill(path, uploadId), 'application/json', JSON.stringify(body))

describe('GET /api/docs/openapi.json', () => {
  test('is valid OpenAPI', () => {
    expect(problemsOfDocument(document)).toEqual([])
  })

  test('describes the body and the answers of each import route', () => {
    const isImport =
      /^\/api\/(v\d\/.*(\/import(s\/|\/|$)|\/axiosRequestMake|\/duplicate\/|\/copy$)|internal\/uploads)/
    const paths = Object.keys(document.paths).filter((path) => isImport.test(path))
    for (const path of [FILES, IMPORT, ANALYSIS, INTO_TABLE, INTERNAL]) expect(paths).toContain(path)
    for (const path of paths) {
      for (const method of Object.keys(document.paths[path])) {
        if (method === 'get') continue
        const { requestBody, responses } = operationOf(path, method)
        expect([path, Object.keys(requestBody?.content ?? {}).length]).not.toEqual([path, 0])
        for (const type of Object.keys(requestBody.content))
          expect([path, Object.keys(bodyOf(path, type, method))]).not.toEqual([path, []])
        if (!path.startsWith('/api/internal/')) {
          expect([path, Object.keys(responses)]).toEqual([
            path,
            expect.arrayContaining(['200', '400', '404']),
          ])
        }
      }
    }
  })
})

describe('bodies of imports', () => {
  test('are refused where the JSON schema forbids them, and accepted where it allows them', async () => {
    const uploadId = await upload(door, CSV)
    const forbidden: [path: string, body: unknown][] = [
      [IMPORT, {}],
      [IMPORT, { uploadId: 1 }],
      [IMPORT, { uploadId, url: 'https://example.com/a.csv' }],
      [IMPORT, { uploadId, unknown: true }],
      [IMPORT, { uploadId, links: 'no' }],
      [IMPORT, { uploadId, tables: [] }],
      [IMPORT, { uploadId, tables: [{ columns: [{ index: 0, decimal: ';' }] }] }],
      [IMPORT, { uploadId, tables: [{ columns: [{ index: -1 }] }] }],
      [ANALYSIS, { uploadId, delimiter: ',,' }],
      [FILES, {}],
      [FILES, { url: 'https://example.com/a.csv', uploadId }],
      [`${INTERNAL}/begin`, { name: 'a.csv', size: -1 }],
      [`${INTERNAL}/begin`, { size: 3 }],
      [`${INTERNAL}/{uploadId}/analysis`, { readAll: 1 }],
      ['/api/v2/meta/axiosRequestMake', { apiMeta: {} }],
      ['/api/v2/meta/tables/{tableId}/copy', { baseId: base.id, withData: 'yes' }],
      ['/api/v2/tables/{tableId}/records/copy', { targetTableId: tableId, ids: [] }],
      [
        '/api/v2/tables/{tableId}/records/copy/preview',
        { targetTableId: tableId, ids: Array.from({ length: 1_001 }, (_, at) => at + 1) },
      ],
      ['/api/v2/meta/duplicate/{baseId}', { options: { excludeData: 2 } }],
    ]
    for (const [path, body] of forbidden) {
      const { status } = await sendJson(path, body, uploadId)
      expect([path, body, allows(bodyOf(path), body), status]).toEqual([path, body, false, 400])
    }
    const allowed: [path: string, body: unknown][] = [
      [ANALYSIS, { uploadId }],
      [
        ANALYSIS,
        { uploadId, header: true, tables: [{ position: 0, columns: [{ index: 0, decimal: null }] }] },
      ],
      [FILES, { uploadId }],
      [`${INTERNAL}/begin`, { name: 'a.csv', size: 3 }],
      [`${INTERNAL}/{uploadId}/analysis`, { readAll: true }],
      ['/api/v2/meta/axiosRequestMake', { apiMeta: { url: 'https://example.com/page.html' } }],
      [
        IMPORT,
        { uploadId, links: false, tables: [{ name: '', title: 'Of a list', columns: [{ name: 'Due' }] }] },
      ],
    ]
    for (const [path, body] of allowed) {
      const { status, body: answer } = await sendJson(path, body, uploadId)
      expect([path, body, allows(bodyOf(path), body), status, answer]).toEqual([
        path,
        body,
        true,
        200,
        answer,
      ])
    }
  })

  test('of imports of bases are refused where the schema forbids them', async () => {
    const start = '/api/v2/meta/base-imports'
    const one = `${start}/{importId}`
    const from = { source: 'teable', credentials: { address: 'https://example.com', token: 't' } }
    expect(allows(bodyOf(start), { from, sourceBaseId: 'b' })).toBe(true)
    const forbidden: [path: string, body: unknown][] = [
      [start, { from }],
      [start, { from: { ...from, source: 'unknown' }, sourceBaseId: 'b' }],
      [start, { from, sourceBaseId: 'b', choices: { views: 'no' } }],
      [`${start}/inspect`, { from: { source: 'teable', credentials: {} } }],
      [`${start}/describe`, { from }],
      [`${one}/resume`, { credentials: 1 }],
      [`${one}/again`, { removeMissing: 'yes' }],
      [`${one}/cancel`, { removes: 1 }],
      [`${one}/people`, { memberId: null }],
    ]
    for (const [path, body] of forbidden) {
      const { status } = await sendJson(path.replace('{importId}', 'bimunknown'), body)
      expect([path, body, allows(bodyOf(path), body), status]).toEqual([path, body, false, 400])
    }
    const allowed: [path: string, body: unknown][] = [
      [`${one}/resume`, {}],
      [`${one}/resume`, { credentials: { token: 't' } }],
      [`${one}/again`, { removeMissing: true }],
      [`${one}/cancel`, { removes: true }],
      [`${one}/people`, { key: 'ann@example.com', memberId: null }],
    ]
    // The body is accepted, and the import is not found.
    for (const [path, body] of allowed) {
      const { status } = await sendJson(path.replace('{importId}', 'bimunknown'), body)
      expect([path, body, allows(bodyOf(path), body), status]).toEqual([path, body, true, 404])
    }
  })

  test('of forms have the options and the file', async () => {
    const schema = bodyOf(IMPORT, 'multipart/form-data')
    expect(schema).toMatchObject({ required: ['file'], properties: { file: { format: 'binary' } } })
    expect(bodyOf(FILES, 'multipart/form-data').properties).not.toHaveProperty('options')
    for (const options of [{ nested: 1 }, { uploadId: 'u' }, { timeZone: 2 }, { titleRow: -1 }]) {
      const { status } = await sendForm(ANALYSIS, options)
      expect([options, allows(schema.properties.options, options), status]).toEqual([options, false, 400])
    }
    for (const options of [{}, { nested: true, titleRow: 1, tables: [{ position: 0, import: true }] }]) {
      const { status, body } = await sendForm(ANALYSIS, options)
      expect([options, allows(schema.properties.options, options), status]).toEqual([options, true, 200])
      expect(allows(answerOf(ANALYSIS), body)).toBe(true)
    }
    const empty = new FormData()
    empty.append('options', '{}')
    expect((await send(fill(IMPORT), 'multipart/form-data', empty)).status).toBe(400)
    const stored = await sendForm(FILES)
    expect([stored.status, allows(answerOf(FILES), stored.body)]).toEqual([200, true])
  })

  test('that are files have their options as parameters', async () => {
    const { content } = operationOf(IMPORT).parameters.find((one: { name: string }) => one.name === 'options')
    expect(content['application/json'].schema).toEqual(
      bodyOf(IMPORT, 'multipart/form-data').properties.options,
    )
    const parameters = new Map<string, object>(
      operationOf(INTO_TABLE).parameters.map((one: { name: string; schema: object }) => [
        one.name,
        one.schema,
      ]),
    )
    const call = (name: string, value: string) =>
      send(`${fill(INTO_TABLE)}?${name}=${encodeURIComponent(value)}`, 'application/octet-stream', CSV)
    for (const [name, value] of [
      ['mode', 'replace'],
      ['preview', 'yes'],
      ['encoding', 'ebcdic'],
      ['escape', '/'],
    ] as const) {
      const { status } = await call(name, value)
      expect([name, allows(parameters.get(name) ?? {}, value), status]).toEqual([name, false, 400])
    }
    for (const [name, value] of [
      ['mode', 'add'],
      ['nested', 'false'],
      ['encoding', 'utf-8'],
      ['escape', 'none'],
    ] as const) {
      const { status } = await call(name, value)
      expect([name, allows(parameters.get(name) ?? {}, value), status]).toEqual([name, true, 200])
    }
  })
})

describe('answers of imports', () => {
  test('fit their schemas, from the start to the report', async () => {
    const started = await sendForm(IMPORT, { tables: [{ position: 0, title: 'Fits' }] })
    expect([started.status, allows(answerOf(IMPORT), started.body)]).toEqual([200, true])
    await ended(door, started.body.jobs[0].id)
    const added = await send(fill(INTO_TABLE), 'application/octet-stream', CSV)
    expect([added.status, allows(answerOf(INTO_TABLE), added.body)]).toEqual([200, true])
    await ended(door, added.body.id)
    const rest = app.rest(owner.token)
    const job = '/api/v2/meta/jobs/{jobId}'
    const state = await rest.get(`/api/v2/meta/jobs/${added.body.id}`)
    expect(state.body.status).toBe('completed')
    const schema = answerOf(job, { method: 'get' })
    expect(allows(schema, state.body)).toBe(true)
    // The result of an import is described, too.
    const [result] = schema.properties.result.anyOf
    expect(allows(result, state.body.result)).toBe(true)
    expect(allows(result, { ...state.body.result, rows: 'two' })).toBe(false)
    const report = await rest.get(`/api/v2/meta/jobs/${added.body.id}/report?limit=5`)
    expect(allows(answerOf(`${job}/report`, { method: 'get' }), report.body)).toBe(true)
    const list = await rest.post(`/api/v2/jobs/${base.id}`, {})
    expect([list.status, list.body.length > 0]).toEqual([201, true])
    expect(allows(answerOf('/api/v2/jobs/{baseId}', { status: 201 }), list.body)).toBe(true)
  })

  test('that refuse are described', async () => {
    const invalid = await sendForm(ANALYSIS, { unknown: true })
    const missing = await sendJson(ANALYSIS, { uploadId: 'u' })
    expect([invalid.status, missing.status]).toEqual([400, 404])
    const { properties } = document.components.schemas.Refusal
    for (const { status, body } of [invalid, missing]) {
      expect(operationOf(ANALYSIS).responses[status]).toEqual({ $ref: '#/components/responses/Refused' })
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(body)))
    }
    expect(Object.keys(invalid.body)).toEqual(['msg', 'errors'])
  })
})
