import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { RecordsService } from '../service.ts'
import { readFooter } from './aggregate.ts'
import { downloadLink } from './download-link.ts'
import { readExport } from './exports.ts'
import { createRestGroups } from './groups.ts'
import { createRestLinks } from './link-operations.ts'
import { createRestLists } from './list.ts'
import { dropParameters } from './listed.ts'
import { createRestOperations } from './operations.ts'
import { readFilter } from './parameters.ts'

export type RestReads = ReturnType<typeof createRestReads>

/** The reads of the REST adapters for others to offer: public links show the same lists. */
export function createRestReads(records: RecordsService, schema: SchemaReader, auth: AuthService) {
  const lists = createRestLists(records, auth)
  const operations = createRestOperations(records, schema, auth)
  return {
    lists,
    groups: createRestGroups(records, lists, auth),
    links: createRestLinks(records, schema, operations, lists),
    operations,
    downloadLink,
    dropParameters,
    readExport,
    readFilter,
    readFooter,
  }
}
