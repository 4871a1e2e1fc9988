import type { AttachmentOptions } from '../../src/core/fields/attachment.ts'
import {
  FILE_KINDS,
  type FileKind,
  isAllowedKind,
  TYPES_BY_ENDING,
  typeByName,
} from '../../src/core/fields/attachment-kinds.ts'
import { m } from '../messages.gen.ts'
import { callRest } from '../rest.ts'
import { formatFileSize } from './format-bytes.ts'
import type { FileSource } from './send-file.ts'

/** Server limits; a field's own options may be stricter. */
export interface ServerLimits {
  maxBytes: number
  maxCount: number
}

const UNLIMITED: ServerLimits = { maxBytes: Number.POSITIVE_INFINITY, maxCount: Number.POSITIVE_INFINITY }
let asked: Promise<ServerLimits> | null = null

/** The server's limits, requested once. If the request fails, the server checks uploads itself. */
export function serverLimits(): Promise<ServerLimits> {
  asked ??= callRest('GET', '/api/v1/db/meta/nocodb/info').then(readLimits, () => {
    asked = null
    return UNLIMITED
  })
  return asked
}

function readLimits(info: unknown): ServerLimits {
  const { ncAttachmentFieldSize, ncMaxAttachmentsAllowed } = (info ?? {}) as Record<string, unknown>
  return {
    maxBytes: typeof ncAttachmentFieldSize === 'number' ? ncAttachmentFieldSize : UNLIMITED.maxBytes,
    maxCount: typeof ncMaxAttachmentsAllowed === 'number' ? ncMaxAttachmentsAllowed : UNLIMITED.maxCount,
  }
}

/** Why a file would be rejected, before uploading; null if it is acceptable. The server also checks the content. */
export function problemOf(
  source: FileSource,
  place: number,
  options: AttachmentOptions,
  server: ServerLimits,
): string | null {
  const most = options.maxCount ?? server.maxCount
  if (place >= most) return m.attachments_field_allows_up_files({ count: most })
  if (!('file' in source)) return null
  const { size, name, type } = source.file
  const largest = Math.min(server.maxBytes, (options.maxSizeMb ?? Number.POSITIVE_INFINITY) * 1024 ** 2)
  if (size > largest) return m.attachments_larger_than_the_size_limit({ size: formatFileSize(largest) })
  const isFit = [type, typeByName(name)].some((one) => isAllowedKind(one, options.kinds))
  return isFit ? null : m.attachments_allowed_file_types_kinds({ kinds: kindLabels(options.kinds) })
}

/** Labels of kinds of files. */
const kindLabels = (kinds: readonly FileKind[]): string =>
  FILE_KINDS.filter(({ key }) => kinds.includes(key))
    .map(({ label }) => label())
    .join(', ')

/** The `accept` attribute of a file input for these kinds; undefined accepts all files. */
export function acceptOf(kinds: readonly FileKind[]): string | undefined {
  if (kinds.length === 0) return undefined
  const whole = kinds.flatMap((kind) => (['image', 'audio', 'video'].includes(kind) ? [`${kind}/*`] : []))
  const endings = Object.entries(TYPES_BY_ENDING).flatMap(([ending, type]) =>
    isAllowedKind(type, kinds) ? [`.${ending}`] : [],
  )
  return [...whole, ...endings].join(',')
}
