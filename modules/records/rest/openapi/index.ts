import { Elysia } from 'elysia'
import { AppError } from '../../../../src/core/errors.ts'
import type { Schema } from '../../../../src/core/fields/json-schema.ts'
import type { Kernel } from '../../../../src/kernel.ts'
import { VERSION } from '../../../../src/version.ts'
import { completeOperation, REFUSAL, RESPONSES } from '../../../../src/wire/openapi.ts'
import { restBase } from '../../../../src/wire/rest-base.ts'
import type { AuthService } from '../../../auth/index.ts'
import type { SchemaReader } from '../../../schema/index.ts'
import type { ViewsService } from '../../../views/index.ts'
import { describeBase, type Generation } from './document.ts'
import { documentPage, pageFile } from './page.ts'
import { SECURITY, SECURITY_SCHEMES } from './parts.ts'

interface Services {
  auth: AuthService
  schema: SchemaReader
  views: ViewsService
}

/**
 * OpenAPI documents: one per base for its members, and one of all routes of the server, each with a page. Must be
 * composed after the routes.
 */
export function openapiRest(kernel: Kernel, services: Services) {
  const bases = new Elysia()
    .use(baseRoutes(kernel, services, 'v1', '/api/v1/db/meta/projects/:baseId'))
    .use(baseRoutes(kernel, services, 'v2', '/api/v2/meta/bases/:baseId'))
  // A plugin function receives the application, whose routes it documents.
  return (app: Elysia) => app.use(bases).use(serverRoutes(app))
}

function serverRoutes(app: Elysia) {
  let document: Promise<Record<string, unknown>> | undefined
  // Routes do not change, and everybody may request the document. One that failed is tried again.
  const describe = () =>
    (document ??= describeServer(app).catch((error) => {
      document = undefined
      throw error
    }))
  return new Elysia({ prefix: '/api/docs' })
    .get('/', () => documentPage('/api/docs/openapi.json', { isOpen: true }), { detail: { hide: true } })
    .get('/openapi.json', () => describe(), { detail: { hide: true } })
    .get('/:file', ({ params }) => getPageFile(params.file), { detail: { hide: true } })
}

function baseRoutes(kernel: Kernel, services: Services, generation: Generation, prefix: string) {
  const { auth, schema } = services
  return new Elysia({ prefix, tags: ['Documents'] })
    .use(restBase(kernel, auth))
    .get(
      '/swagger.json',
      async ({ actor, params, request }) => {
        const { baseId } = params as { baseId: string }
        const tables = await schema.tables(actor, baseId)
        return describeBase(services, tables, generation, auth.siteUrl(request))
      },
      { detail: { summary: 'The OpenAPI document of a base' } },
    )
    .get('/swagger', ({ path }) => documentPage(`${path}.json`), { detail: { hide: true } })
    .get('/redoc', ({ path }) => documentPage(path.replace(/redoc$/, 'swagger.json'), { isReadOnly: true }), {
      detail: { hide: true },
    })
}

/** Every route under `/api`, as the adapters describe them. */
async function describeServer(app: Elysia): Promise<Record<string, unknown>> {
  // Loaded on first use, so that the server starts faster.
  const { toOpenAPISchema } = await import('@elysiajs/openapi')
  const { paths, components } = toOpenAPISchema(app)
  const api = Object.entries(paths).filter(([path]) => path.startsWith('/api/'))
  return {
    openapi: '3.0.3',
    info: { title: 'Sheaf', version: VERSION },
    paths: Object.fromEntries(
      api.map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations ?? {}).map(([method, operation]) => [
            method,
            completeOperation(operation as Schema),
          ]),
        ),
      ]),
    ),
    components: {
      schemas: { ...components.schemas, ...REFUSAL },
      responses: RESPONSES,
      securitySchemes: SECURITY_SCHEMES,
    },
    security: SECURITY,
  }
}

function getPageFile(name: string): Response {
  const response = pageFile(name)
  if (!response) throw new AppError('NOT_FOUND', `Cannot GET /api/docs/${name}`, undefined, 'msg')
  return response
}
