import { badRequest } from '../../../../src/core/errors.ts'
import { m } from '../../../../src/messages.gen.ts'
import { csv } from './csv.ts'
import type { ExportFormat } from './format.ts'
import { json } from './json.ts'
import { ndjson } from './ndjson.ts'
import { xlsx } from './xlsx.ts'

export type { ExportContent, ExportFormat, ExportOptions } from './format.ts'

/** All export formats. REST clients also use `excel`. */
export const EXPORT_FORMATS: Record<string, ExportFormat> = { csv, xlsx, excel: xlsx, json, ndjson }

/** @throws BAD_REQUEST listing the formats */
export function exportFormat(name: string): ExportFormat {
  const format = Object.hasOwn(EXPORT_FORMATS, name) ? EXPORT_FORMATS[name] : undefined
  if (!format) throw badRequest(m.records_error_export_format({ name: name.slice(0, 40) }))
  return format
}
