import { type AnyElysia, Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService, StarterBase } from '../../auth/index.ts'
import { type BasesService, presentBase } from '../../bases/index.ts'
import { presentFull, type SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { RecordsService } from '../service.ts'
import { attachmentsRest, downloadLink } from './attachments.ts'
import { bulkListsRest, listsByAlias } from './bulk-lists.ts'
import { calendarRest, createRestCalendars } from './calendar.ts'
import { commandPaletteRest } from './command-palette.ts'
import { exportsRest, readExport } from './exports.ts'
import { aggregateRest, createRestGroups, readFooter } from './groups.ts'
import { historyRest } from './history.ts'
import { createRestLinks, linksV1, linksV2 } from './links.ts'
import { createRestLists } from './list.ts'
import { createRestOperations } from './operations.ts'
import { dropParameters, readFilter } from './parameters.ts'
import { createReport } from './report.ts'
import { searchRest } from './search.ts'
import { trashRest } from './trash.ts'
import { createResolver, recordsV1 } from './v1.ts'
import { recordsV1Bulk } from './v1-bulk.ts'
import { recordsV2 } from './v2.ts'

interface Services {
  auth: AuthService
  bases: BasesService
  schema: SchemaReader
  views: ViewsService
  records: RecordsService
}

/** Server statistics (wire §3). */
function reportRest(kernel: Kernel, services: Services) {
  const report = createReport(services, kernel.registry)
  return new Elysia()
    .use(restBase(kernel, services.auth))
    .get('/api/v1/aggregated-meta-info', ({ actor }) => report(actor))
}

/** Records over REST, both generations of the API. */
export function recordsRest(kernel: Kernel, services: Services) {
  const lists = createRestLists(services.records, services.auth)
  const operations = createRestOperations(services.records, services.schema, services.auth)
  const links = createRestLinks(services.records, services.schema, operations, lists)
  const groups = createRestGroups(services.records, lists, services.auth)
  const calendars = createRestCalendars(services.records, lists)
  const resolve = createResolver(services)
  const app = new Elysia()
  // One by one: the type of a chain would have every route, too deep for the compiler at times.
  for (const routes of [
    reportRest(kernel, services),
    commandPaletteRest(kernel, services),
    aggregateRest(kernel, services),
    attachmentsRest(kernel, services.records, services.auth),
    recordsV2(kernel, { ...services, lists, operations }),
    bulkListsRest(kernel, { ...services, lists, groups }),
    trashRest(kernel, services),
    historyRest(kernel, services),
    searchRest(kernel, services),
    linksV2(kernel, { ...services, links }),
    calendarRest(kernel, { ...services, calendars, resolve }),
    exportsRest(kernel, services),
    linksV1(kernel, { ...services, links, resolve }),
    recordsV1Bulk(kernel, { ...services, operations, resolve }),
    recordsV1(kernel, { ...services, lists, groups, operations }),
  ])
    app.use(routes as AnyElysia)
  return app
}

/** The REST reads for other modules: public links show the same lists. */
export function createRestReads(records: RecordsService, schema: SchemaReader, auth: AuthService) {
  const lists = createRestLists(records, auth)
  const operations = createRestOperations(records, schema, auth)
  return {
    calendars: createRestCalendars(records, lists),
    lists,
    groups: createRestGroups(records, lists, auth),
    links: createRestLinks(records, schema, operations, lists),
    listsByAlias,
    operations,
    downloadLink,
    dropParameters,
    readExport,
    readFilter,
    readFooter,
  }
}

/** Returns the presenter of the first user's base: the base with its tables, as `createdProject` has them (wire §2). */
export function presentStarter({
  kernel,
  bases,
  schema,
}: Pick<Services, 'bases' | 'schema'> & { kernel: Kernel }) {
  return async ({ baseId, tableIds }: StarterBase) => {
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    const tables = tableIds.map((id) => presentFull(schema, kernel.registry, id))
    return { ...presentBase(await bases.require(baseId), sources), tables: await Promise.all(tables) }
  }
}
