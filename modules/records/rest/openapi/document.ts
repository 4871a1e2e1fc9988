import type { Table } from '../../../../src/core/model.ts'
import { isTabular } from '../../../../src/core/views/index.ts'
import type { SchemaReader } from '../../../schema/index.ts'
import type { ViewsService } from '../../../views/index.ts'
import {
  COMMON_SCHEMAS,
  type DocumentedTable,
  PARAMETERS,
  type Paths,
  RESPONSES,
  recordSchemas,
  SECURITY,
  SECURITY_SCHEMES,
  viewSchema,
} from './parts.ts'
import { pathsV1, viewSchemaName } from './v1.ts'
import { pathsV2 } from './v2.ts'

/** Which generation of the API a document describes. */
export type Generation = 'v1' | 'v2'

/** The OpenAPI document of a base's tables (wire reference §18). */
export async function describeBase(
  {
    schema,
    views,
  }: { schema: Pick<SchemaReader, 'load' | 'clientOf'>; views: Pick<ViewsService, 'ofTable'> },
  tables: Table[],
  generation: Generation,
  siteUrl: string,
): Promise<Record<string, unknown>> {
  const named = nameTables(tables)
  const documented = await Promise.all(
    named.map(async ({ table, ...names }): Promise<DocumentedTable> => {
      const grids = (await views.ofTable(table.id)).filter(isTabular)
      const model = await schema.load(table.id)
      return {
        model,
        client: await schema.clientOf(model),
        views: generation === 'v1' ? grids : [],
        ...names,
      }
    }),
  )
  const paths: Paths = {}
  const schemas = { ...COMMON_SCHEMAS }
  for (const table of documented) {
    Object.assign(paths, generation === 'v1' ? pathsV1(table) : pathsV2(table))
    Object.assign(schemas, recordSchemas(table))
    for (const view of table.views) schemas[viewSchemaName(table.name, view)] = viewSchema(table, view)
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Sheaf', version: generation === 'v1' ? '1.0' : '2.0' },
    servers: [{ url: siteUrl }],
    tags: tables.map(({ title, description }) => ({ name: title, ...(description && { description }) })),
    paths,
    components: { schemas, parameters: PARAMETERS, responses: RESPONSES, securitySchemes: SECURITY_SCHEMES },
    security: SECURITY,
  }
}

/** A name for each table's schemas, and one for its operations: of letters that OpenAPI allows, each once. */
function nameTables(tables: Table[]): { table: Table; name: string; slug: string }[] {
  const taken = new Set<string>(Object.keys(COMMON_SCHEMAS))
  return tables.map((table) => {
    const plain = table.title.replace(/[^\w.-]+/g, '_')
    const name = /[A-Za-z0-9]/.test(plain) && !taken.has(plain) ? plain : `${plain}_${table.id}`
    taken.add(name)
    return { table, name, slug: name.toLowerCase().replaceAll('_', '-') }
  })
}
