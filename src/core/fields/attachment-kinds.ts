import { m } from '../messages.gen.ts'

/** Kinds of files to which a field may be limited, each with its label and a pattern of its MIME types. */
export const FILE_KINDS = [
  { key: 'image', label: m.file_kind_image, types: /^image\// },
  { key: 'audio', label: m.file_kind_audio, types: /^audio\// },
  { key: 'video', label: m.file_kind_video, types: /^video\// },
  { key: 'pdf', label: m.file_kind_pdf, types: /^application\/pdf$/ },
  {
    key: 'document',
    label: m.file_kind_document,
    types:
      /^application\/(msword|rtf|vnd\.(openxmlformats-officedocument\.wordprocessingml|oasis\.opendocument\.text))/,
  },
  {
    key: 'spreadsheet',
    label: m.file_kind_spreadsheet,
    types:
      /^(text\/csv|application\/vnd\.(ms-excel|openxmlformats-officedocument\.spreadsheetml|oasis\.opendocument\.spreadsheet))/,
  },
  {
    key: 'presentation',
    label: m.file_kind_presentation,
    types:
      /^application\/vnd\.(ms-powerpoint|openxmlformats-officedocument\.presentationml|oasis\.opendocument\.presentation)/,
  },
  { key: 'text', label: m.file_kind_text, types: /^(text\/|application\/(json|xml))/ },
  {
    key: 'archive',
    label: m.file_kind_archive,
    types: /^application\/(zip|gzip|x-tar|x-7z-compressed|x-bzip2|x-xz|vnd\.rar)$/,
  },
] as const

export type FileKind = (typeof FILE_KINDS)[number]['key']

/** Keys of all kinds, for schemas. */
export const FILE_KIND_KEYS = FILE_KINDS.map(({ key }) => key) as readonly FileKind[]

/** The kind of a file of this MIME type; null if it is not listed. */
export function fileKind(mimetype: string): FileKind | null {
  return FILE_KINDS.find(({ types }) => types.test(mimetype))?.key ?? null
}

/** True where a field limited to these kinds accepts the MIME type; an empty list accepts every file. */
export const isAllowedKind = (mimetype: string, kinds: readonly FileKind[]): boolean =>
  kinds.length === 0 || FILE_KINDS.some(({ key, types }) => kinds.includes(key) && types.test(mimetype))

/** Image types that every browser renders and that cannot contain scripts. */
export const isSafeImage = (mimetype: string): boolean =>
  /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon)$/.test(mimetype)

/** MIME type by file extension, for names and URLs without content to inspect. */
export function typeByName(name: string): string {
  // A URL may have a query or fragment after its path.
  const ending = endingOf(name) ?? endingOf(name.split(/[?#]/, 1)[0] ?? '') ?? ''
  return TYPES_BY_ENDING[ending] ?? 'application/octet-stream'
}

const endingOf = (name: string): string | undefined => /\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase()

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const OPEN = 'application/vnd.oasis.opendocument'

/** MIME types by file extension. */
export const TYPES_BY_ENDING: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  svg: 'image/svg+xml',
  heic: 'image/heic',
  ico: 'image/x-icon',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  avi: 'video/x-msvideo',
  pdf: 'application/pdf',
  rtf: 'application/rtf',
  doc: 'application/msword',
  docx: `${OFFICE}.wordprocessingml.document`,
  odt: `${OPEN}.text`,
  xls: 'application/vnd.ms-excel',
  xlsx: `${OFFICE}.spreadsheetml.sheet`,
  ods: `${OPEN}.spreadsheet`,
  ppt: 'application/vnd.ms-powerpoint',
  pptx: `${OFFICE}.presentationml.presentation`,
  odp: `${OPEN}.presentation`,
  txt: 'text/plain',
  log: 'text/plain',
  csv: 'text/csv',
  tsv: 'text/csv',
  md: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'text/yaml',
  yml: 'text/yaml',
  zip: 'application/zip',
  gz: 'application/gzip',
  tgz: 'application/gzip',
  tar: 'application/x-tar',
  '7z': 'application/x-7z-compressed',
  rar: 'application/vnd.rar',
  bz2: 'application/x-bzip2',
  xz: 'application/x-xz',
}
