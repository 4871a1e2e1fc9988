import type { compress, WrittenPage } from '../../../../src/record-files/index.ts'
import type { ExportContent, ExportFormat, ExportOptions } from './format.ts'
import { fileNames, zipped } from './zip.ts'

/** A table as a file in an archive. */
interface TableFile {
  /** What stands before the records. */
  start?: ReturnType<typeof compress>
  /** Compressed. */
  pages: AsyncIterable<WrittenPage>
}

/** An archive with a file for each table, named after it. */
export const archiveOf = (
  extension: string,
  fileOf: (content: ExportContent, options: ExportOptions) => TableFile,
): ExportFormat['ofTables'] => ({
  extension: 'zip',
  mediaType: 'application/zip',
  write(contents, options) {
    const titles = contents.map(({ title }) => title)
    const names = fileNames(titles, extension)
    return zipped(async function* (open) {
      for (const [at, content] of contents.entries()) {
        const file = open(names[at] ?? '')
        const { start, pages } = fileOf(content, options)
        if (start) yield* file.add(start)
        for await (const { pieces } of pages) {
          for (const { bytes, packed } of pieces) {
            if (!packed) throw new Error('A page in an archive has to be compressed')
            yield* file.add({ bytes, ...packed })
          }
        }
        yield* file.end()
      }
    })
  },
})
