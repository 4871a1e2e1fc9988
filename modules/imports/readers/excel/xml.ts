import { SaxesParser } from 'saxes'
import { FileError } from '../../../../src/core/imports/file-error.ts'
import { m } from '../../../../src/messages.gen.ts'

/** Text and markup without a new tag, in characters: no workbook has so long a cell. */
const MAX_UNBROKEN = 32_000_000
const MAX_DEPTH = 100

export interface XmlHandlers {
  /** @param name without its namespace's prefix */
  open(name: string, attributes: Record<string, string>): void
  text?(text: string): void
  close?(name: string): void
}

/**
 * Parses a part of a workbook, and yields after each chunk, so that the caller can take what the handlers have
 * collected. Never expands entities beyond the five of XML.
 * @param part name for messages
 * @throws FileError for malformed XML
 */
export async function* parseXml(
  chunks: AsyncIterable<Uint8Array>,
  part: string,
  { open, text, close }: XmlHandlers,
): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: false })
  let depth = 0
  let unbroken = 0
  parser.on('error', () => {
    throw new FileError(m.imports_error_workbook_broken({ part }))
  })
  parser.on('doctype', () => {
    throw new FileError(m.imports_error_workbook_doctype({ part }))
  })
  parser.on('opentag', ({ name, attributes }) => {
    unbroken = 0
    if (++depth > MAX_DEPTH) throw new FileError(m.imports_error_workbook_broken({ part }))
    open(localName(name), attributes)
  })
  parser.on('closetag', ({ name }) => {
    unbroken = 0
    depth--
    close?.(localName(name))
  })
  if (text) {
    parser.on('text', text)
    parser.on('cdata', text)
  }
  let decoder: TextDecoder | null = null
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOf(chunk))
    const piece = decoder.decode(chunk, { stream: true })
    unbroken += piece.length
    if (unbroken > MAX_UNBROKEN) throw new FileError(m.imports_error_workbook_broken({ part }))
    parser.write(piece)
    yield
  }
  if (decoder) parser.write(decoder.decode())
  parser.close()
  yield
}

const localName = (name: string): string => {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** Characters that XML cannot represent are written as `_x0007_` (ECMA-376, 22.4.2.4). */
export const unescapeXml = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text
