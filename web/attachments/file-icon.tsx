import {
  File,
  FileArchive,
  FileImage,
  FileMusic,
  FileSpreadsheet,
  FileText,
  FileVideoCamera,
  Link,
  type LucideIcon,
  Presentation,
} from 'lucide-react'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { type FileKind, fileKind } from '../../src/core/fields/attachment-kinds.ts'

const ICONS: Record<FileKind, LucideIcon> = {
  image: FileImage,
  audio: FileMusic,
  video: FileVideoCamera,
  pdf: FileText,
  document: FileText,
  spreadsheet: FileSpreadsheet,
  presentation: Presentation,
  text: FileText,
  archive: FileArchive,
}

/** The sign of a kind of file. */
export function FileIcon({ item, size }: { item: Pick<AttachmentItem, 'mimetype' | 'url'>; size: number }) {
  const kind = fileKind(item.mimetype)
  const Icon = item.url !== undefined ? Link : kind ? ICONS[kind] : File
  return <Icon size={size} aria-hidden />
}

/** The ending of a file's name in capitals, for a sign: `PDF`; empty where it says nothing. */
export const endingOf = (title: string): string => /\.(\w{1,4})$/.exec(title)?.[1]?.toUpperCase() ?? ''
