import * as z from 'zod/mini'
import { parseJsonText } from '../json-text.ts'
import { m } from '../messages.gen.ts'
import {
  type AttachmentItem,
  MAX_ATTACHMENTS_EVER,
  readAttachments,
  readFileList,
  readItems,
  writeAttachments,
} from './attachment-item.ts'
import { FILE_KIND_KEYS, FILE_KINDS, isAllowedKind } from './attachment-kinds.ts'
import { defineFieldType, describeValue, type Read, readFail, readOk } from './field-type.ts'

const MEGABYTE = 1024 ** 2

const options = z.object({
  /** Accepted kinds of files; an empty list accepts all. */
  kinds: z._default(z.array(z.enum(FILE_KIND_KEYS)).check(z.maxLength(FILE_KIND_KEYS.length)), []),
  /** Maximum files per cell; null: the server's limit. */
  maxCount: z._default(z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_ATTACHMENTS_EVER))), null),
  /** Maximum megabytes per file; null: the server's limit. */
  maxSizeMb: z._default(z.nullable(z.number().check(z.positive(), z.maximum(100_000))), null),
})

/** Options of an Attachment field after defaults. */
export type AttachmentOptions = z.output<typeof options>

/** Any number of files. The cell holds a JSON list; the content is in the file store. */
export const attachment = defineFieldType({
  name: 'Attachment',
  label: m.field_type_attachment,
  group: 'file',
  help: m.field_type_attachment_help,
  example: 'photo.jpg',
  storage: 'longText',
  options,
  filters: 'attachment',
  summaries: 'size',
  holdsFiles: true,
  groupable: false,
  read(input, limits) {
    const parsed = typeof input === 'string' ? parseJson(input) : input
    if (typeof input === 'string' && !Array.isArray(parsed)) {
      return readFail(`Invalid JSON for attachment field: ${describeValue(input)}`, 'json')
    }
    const items = readItems(parsed)
    if (typeof items === 'string') return readFail(items)
    return checkLimits(items, limits)
  },
  // URLs only: stored files are referenced through the API and the app's clipboard format, never by text.
  parse(text, limits) {
    const items = readFileList(text, 'addresses')
    return items !== null && limitProblem(items, limits) === null ? writeAttachments(items) : null
  },
  format: (value) => readAttachments(value).map(asText).join(', '),
  // Attachments always come from an upload, so a default value is not possible.
  noDefault: true,
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})

/** Error message for the first file limit that is exceeded; null if all files fit. */
export function limitProblem(
  items: readonly Pick<AttachmentItem, 'title' | 'mimetype' | 'size'>[],
  { kinds, maxCount, maxSizeMb }: AttachmentOptions,
): string | null {
  if (maxCount !== null && items.length > maxCount) {
    return m.value_error_file_count({ count: maxCount, sent: items.length })
  }
  for (const { title, mimetype, size } of items) {
    const name = title.slice(0, 100)
    if (!isAllowedKind(mimetype, kinds)) return m.value_error_file_kind({ file: name, kinds: labels(kinds) })
    if (maxSizeMb !== null && size > maxSizeMb * MEGABYTE) {
      return m.value_error_file_size({ file: name, megabytes: maxSizeMb })
    }
  }
  return null
}

function checkLimits(items: AttachmentItem[], limits: AttachmentOptions): Read {
  const problem = limitProblem(items, limits)
  return problem === null ? readOk(writeAttachments(items)) : readFail(problem, 'check')
}

const labels = (kinds: AttachmentOptions['kinds']): string =>
  FILE_KINDS.filter(({ key }) => kinds.includes(key))
    .map(({ label }) => label())
    .join(', ')

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A file as text: its name and, for external files, the URL, which `parse` reads back. */
function asText({ title, url }: AttachmentItem): string {
  // A comma followed by whitespace separates files.
  return url === undefined ? title : `${title.replace(/,\s+/g, ',')} (${url})`
}
