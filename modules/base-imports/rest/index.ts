import { Elysia } from 'elysia'
import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { guardText } from '../../../src/core/csv/format.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { fileAnswer } from '../../records/index.ts'
import type { BaseImportsService } from '../service.ts'

const COLUMNS = ['kind', 'tableTitle', 'fieldTitle', 'viewTitle', 'recordId', 'reason', 'value'] as const
const HEADER = ['What', 'Table', 'Field', 'View', 'Record', 'Reason', 'Value']

interface Services {
  baseImports: BaseImportsService
  auth: Pick<AuthService, 'access' | 'authenticate'>
}

/** The report of an import as a CSV file, for the web app. */
export const baseImportsRest = (kernel: Kernel, { baseImports, auth }: Services) =>
  new Elysia()
    .use(restBase(kernel, auth))
    .get('/api/internal/base-imports/:importId/report', async ({ actor, params }) => {
      const { title, lines } = await baseImports.openReport(actor, params.importId)
      return fileAnswer({ name: `${title}.csv`, mediaType: 'text/csv', body: csvOf(lines) })
    })

async function* csvOf(pages: AsyncGenerator<ImportProblem[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(`\ufeff${HEADER.join(',')}\r\n`)
  for await (const page of pages) {
    const lines = page.map((line) => COLUMNS.map((column) => quoted(line[column] ?? '')).join(','))
    yield encoder.encode(`${lines.join('\r\n')}\r\n`)
  }
}

/** A cell, quoted; one that a spreadsheet would execute is marked as text. */
const quoted = (text: string): string => `"${guardText(text).replaceAll('"', '""')}"`
