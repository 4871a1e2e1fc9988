import { Elysia } from 'elysia'
import { badRequest } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { describedBy } from '../../../src/wire/openapi.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { MAX_PER_TABLE } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { queryOf, readInteger } from './parameters.ts'

interface Deps {
  records: RecordsService
  schema: Pick<SchemaReader, 'load' | 'tables'>
  auth: AuthService
}

/** Limit of the searched text. */
const MAX_TEXT = 200

const PARAMETERS = [
  {
    name: 'search',
    in: 'query',
    required: true,
    description: 'The text, which matches anywhere in a value, ignoring case',
    schema: { type: 'string', minLength: 1, maxLength: MAX_TEXT },
  },
  {
    name: 'limit',
    in: 'query',
    description: `Matches of each table, 1 to ${MAX_PER_TABLE}`,
    schema: { type: 'integer', minimum: 1, maximum: MAX_PER_TABLE, default: 5 },
  },
]

/** Search of all tables of a base. */
export function searchRest(kernel: Kernel, { records, schema, auth }: Deps) {
  return new Elysia({ tags: ['Records'] }).use(restBase(kernel, auth)).get(
    '/api/v2/meta/bases/:baseId/search',
    async ({ actor, params: { baseId }, request }) => {
      // Checks access before the parameters, so that errors reveal nothing.
      const tables = new Map((await schema.tables(actor, baseId)).map((table) => [table.id, table.title]))
      const query = new URLSearchParams(queryOf(request))
      const text = query.get('search')?.trim() ?? ''
      if (text === '' || text.length > MAX_TEXT)
        throw badRequest(m.records_error_search_text({ max: MAX_TEXT }))
      const perTable = readInteger(query, 'limit', MAX_PER_TABLE)
      const { matches, unfinished } = await records.search(actor, { baseId, text, perTable })
      const list = []
      for (const { tableId, recordId, name, fieldId, snippet } of matches) {
        const field = (await schema.load(tableId)).field(fieldId)
        list.push({
          tableId,
          table: tables.get(tableId) ?? '',
          id: recordId,
          title: name,
          fieldId,
          field: field?.title ?? '',
          snippet: snippet.text,
          highlight: { start: snippet.start, end: snippet.end },
        })
      }
      return { list, unfinished }
    },
    {
      detail: { summary: 'Search the records of a base', ...describedBy(() => ({ parameters: PARAMETERS })) },
    },
  )
}
