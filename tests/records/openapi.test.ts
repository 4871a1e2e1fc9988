import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { problemsOfDocument } from '../support/openapi.ts'
import { EVERY_TYPE } from './every-type.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable

beforeAll(async () => {
  bench = await createBench({ hasStarter: true })
  table = await bench.table({ ...EVERY_TYPE, Must: { type: 'Number', required: true }, By: 'CreatedBy' }, [
    { Title: 'a', Must: 1, Num: 5, Cb: true, D: '2024-03-05', Ss: 'red' },
    { Must: 2 },
  ])
  await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Two words / "odd"', kind: 'grid' })
})
afterAll(() => bench.stop())

const V1 = () => `/api/v1/db/meta/projects/${bench.baseId}`
const V2 = () => `/api/v2/meta/bases/${bench.baseId}`

// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is read here as it comes
type Document = any

/** Everything that `$ref`s name. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' ? [String(inner)] : referencesIn(inner),
  )
}

const resolve = (document: Document, reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce((at, key) => at?.[key], document)

/** What of a value its schema does not allow; enough of JSON Schema for what the documents use. */
function problemsOf(document: Document, schema: Document, value: unknown, path = ''): string[] {
  if (schema.$ref) return problemsOf(document, resolve(document, schema.$ref), value, path)
  if (value === null) return schema.nullable ? [] : [`${path} is null`]
  if (schema.enum && !schema.enum.includes(value)) return [`${path} is none of ${schema.enum}`]
  switch (schema.type) {
    case 'integer':
      return Number.isInteger(value) ? [] : [`${path} is no integer`]
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === schema.type ? [] : [`${path} is no ${schema.type}`]
    case 'array':
      return (value as unknown[]).flatMap((item, index) =>
        problemsOf(document, schema.items, item, `${path}/${index}`),
      )
    default:
      return Object.entries(value as object).flatMap(([key, inner]) => {
        const property = schema.properties?.[key]
        if (property) return problemsOf(document, property, inner, `${path}/${key}`)
        return schema.additionalProperties ? [] : [`${path}/${key} is not described`]
      })
  }
}

describe('GET …/swagger.json', () => {
  test('says that a base is unknown, then refuses the anonymous and strangers', async () => {
    for (const path of [
      '/api/v1/db/meta/projects/pnope/swagger.json',
      '/api/v2/meta/bases/pnope/swagger.json',
    ]) {
      expect((await bench.app.rest().get(path)).body).toMatchObject({ error: 'BASE_NOT_FOUND' })
    }
    const stranger = await bench.app.signUp()
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    for (const path of [`${V1()}/swagger.json`, `${V2()}/swagger.json`]) {
      expect((await bench.app.rest().get(path)).status).toBe(401)
      expect((await bench.app.rest(stranger.token).get(path)).status).toBe(403)
      expect((await bench.app.rest(viewer.token).get(path)).status).toBe(200)
    }
  })

  test.each(['v1', 'v2'])(
    '%s describes every table; names are allowed ones, and references lead somewhere',
    async (generation) => {
      await bench.table({ Title: 'SingleLineText' })
      for (const title of ['日本', '日 本', 'A B', 'A_B', 'Paginated', 'x+y (z)']) {
        await bench.trpc.schema.createTable
          .mutate({ baseId: bench.baseId, title })
          .catch((error: Error) => expect(error.message).toContain('Duplicate'))
      }
      const { body } = await bench.rest.get(`${generation === 'v1' ? V1() : V2()}/swagger.json`)
      expect(problemsOfDocument(body)).toEqual([])
      expect(body).toMatchObject({ openapi: '3.0.0', info: { version: generation === 'v1' ? '1.0' : '2.0' } })
      expect(Object.keys(body.components.securitySchemes)).toContain('xc-token')
      for (const reference of referencesIn(body))
        expect([reference, resolve(body, reference)]).not.toEqual([reference, undefined])
      for (const name of Object.keys(body.components.schemas)) expect(name).toMatch(/^[\w.-]+$/)
      const operations = Object.values(body.paths as Document).flatMap((path) =>
        Object.values(path as Document),
      ) as Document[]
      const ids = operations.map(({ operationId }) => operationId)
      expect(new Set(ids).size).toBe(ids.length)
      for (const [path, methods] of Object.entries(body.paths as Document)) {
        const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
        for (const { parameters = [] } of Object.values(methods as Document) as Document[]) {
          const given = parameters
            .filter((one: Document) => one.in === 'path')
            .map((one: Document) => one.name)
          expect([path, given]).toEqual([path, named])
        }
      }
    },
  )

  test('v2 has the paths of a table under its id, and schemas that fit its answers', async () => {
    const { body: document } = await bench.rest.get(`${V2()}/swagger.json`)
    const paths = Object.keys(document.paths).filter((path) => path.includes(table.id))
    expect(paths).toEqual([table.path, `${table.path}/{recordId}`, `${table.path}/count`])
    expect(Object.keys(document.paths[table.path])).toEqual(['get', 'post', 'patch', 'delete'])
    const { schema } = document.paths[table.path].get.responses[200].content['application/json']
    expect(problemsOf(document, schema, (await bench.rest.get(table.path)).body)).toEqual([])
    const one =
      document.paths[`${table.path}/{recordId}`].get.responses[200].content['application/json'].schema
    expect(problemsOf(document, one, (await bench.rest.get(`${table.path}/1`)).body)).toEqual([])
    const request = resolve(
      document,
      `#/components/schemas/${table.title.replace(' ', '_')}Request`,
    ) as Document
    expect(request.required).toEqual(['Must'])
    expect(Object.keys(request.properties)).toEqual([...Object.keys(EVERY_TYPE), 'Must'])
    expect(request.properties.Ss.enum).toEqual(['red', 'blue', 'dark red', null])
  })

  test('fits the answers of tables with links, and with all that is worked out over them', async () => {
    const [starter] = (await bench.trpc.bases.list.query()).filter(({ title }) => title === 'Getting started')
    const { body: document } = await bench.rest.get(`/api/v2/meta/bases/${starter?.id}/swagger.json`)
    for (const { id, title } of await bench.trpc.schema.tables.query({ baseId: starter?.id ?? '' })) {
      const schema = document.components.schemas[`${title}Response`]
      const { body } = await bench.rest.get(`/api/v2/tables/${id}/records`)
      for (const row of body.list) expect(problemsOf(document, schema, row, title)).toEqual([])
      const { properties } = document.components.schemas[`${title}Request`]
      expect(Object.keys(properties)).not.toContain('Per hour')
    }
    const { Tasks, Project } = document.components.schemas.ProjectsResponse.properties
    expect([Tasks.type, Project.type]).toEqual(['integer', 'string'])
  })

  test('v1 has the paths of tables and of their grid views, each of which is there', async () => {
    const { body: document } = await bench.rest.get(`${V1()}/swagger.json`)
    const start = `/api/v1/db/data/v1/${bench.baseId}/${encodeURIComponent(table.title)}`
    expect(Object.keys(document.paths)).toContain(`${start}/views/${encodeURIComponent('Two words / "odd"')}`)
    const gets = Object.entries(document.paths as Document).filter(
      ([path, methods]) => path.startsWith(start) && (methods as Document).get,
    )
    expect(gets.length).toBeGreaterThan(7)
    for (const [path, { get }] of gets as [string, Document][]) {
      const { status, body } = await bench.rest.get(
        `${path.replace('{rowId}', '1').replace('{type}', 'csv')}${path.endsWith('/groupby') ? '?column_name=Title' : ''}`,
      )
      expect([path, status]).toEqual([path, 200])
      if (path.endsWith('/export/{type}')) expect(body).toContain('Title,Notes,')
      else if (!path.endsWith('/groupby')) {
        const { schema } = get.responses[200].content['application/json']
        expect([path, problemsOf(document, schema, body)]).toEqual([path, []])
      }
    }
  })
})

describe('the pages', () => {
  test('are open, load nothing from elsewhere and run no script of their own', async () => {
    for (const path of [`${V1()}/swagger`, `${V2()}/swagger`, `${V1()}/redoc`, '/api/docs']) {
      const { status, body, headers } = await bench.app.rest().get(path)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      expect(headers.get('content-security-policy')).toContain("script-src 'self'")
      expect(body).not.toMatch(/https?:\/\/|<script>|\son\w+=/)
      const files = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1])
      expect(files).toHaveLength(3)
      for (const file of files) {
        const answer = await bench.app.rest().get(file)
        expect([file, answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([
          file,
          200,
          file.endsWith('.css') ? 'text/css' : 'text/javascript',
        ])
        expect(answer.body.length).toBeGreaterThan(500)
      }
      const source = /data-source="([^"]+)"/.exec(body)?.[1]
      expect((await bench.rest.get(source!)).body.openapi).toStartWith('3.')
    }
  })

  test('are for reading alone under /redoc', async () => {
    for (const base of [V1(), V2()]) {
      expect((await bench.app.rest().get(`${base}/redoc`)).body).toContain('data-readonly="true"')
      expect((await bench.app.rest().get(`${base}/swagger`)).body).toContain('data-readonly="false"')
    }
  })

  test('know no other files', async () => {
    for (const name of ['nope.js', '..%2fpage.ts', '%2e%2e', 'constructor', '__proto__']) {
      expect([name, (await bench.app.rest().get(`/api/docs/${name}`)).status]).toEqual([name, 404])
    }
  })

  test('of the server tell every route under /api', async () => {
    const { body } = await bench.app.rest().get('/api/docs/openapi.json')
    const paths = Object.keys(body.paths)
    expect(paths).toContain('/api/v2/tables/{tableId}/records/')
    expect(paths.every((path) => path.startsWith('/api/'))).toBe(true)
    expect(body.paths['/api/v1/db/public/shared-view/{uuid}/rows'].get.security).toEqual([])
    const parametersOf = (path: string): string[] =>
      body.paths[path].get.parameters.map(({ name }: Document) => name)
    expect(parametersOf('/api/v2/tables/{tableId}/history')).toEqual(['tableId', 'limit', 'cursor'])
    expect(parametersOf('/api/v2/meta/bases/{baseId}/search')).toEqual(['baseId', 'search', 'limit'])
    expect(paths.length).toBeGreaterThan(30)
  })
})
