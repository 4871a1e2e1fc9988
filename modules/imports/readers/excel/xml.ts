import { FileError } from '../../../../src/core/imports/file-error.ts'
import { m } from '../../../../src/messages.gen.ts'

/*
 * A scanner of our own for the XML of workbooks: a sheet has up to a billion characters, of which a parser that looks at each
 * (saxes) took two thirds of the time of an import. This one jumps from tag to tag. It checks that tags are closed in
 * order and that references are known, and has no doctypes, so nothing is ever expanded.
 */

/** Text without a tag, in characters: no workbook has so long a cell. */
const MAX_UNBROKEN = 32_000_000
/** Length of a tag or a comment, which is scanned again with each chunk until its end has come. */
const MAX_MARKUP = 4_000_000
const MAX_DEPTH = 100
/** Longest reference, such as `&#x10FFFF;`. */
const MAX_REFERENCE = 12

export interface XmlHandlers {
  /** @param name without its namespace's prefix */
  open(name: string, attributes: Record<string, string>): void
  text?(text: string): void
  close?(name: string): void
  /**
   * Reads an element itself, where the scanner would be slow. Returns the position behind it, or -1 to leave it to the scanner.
   * @param from position of its `<`
   */
  element?(source: string, from: number): number
  /** Refuses what other programs may read as further tags: `<` in a tag, in CDATA and in an instruction, and other spaces in names. */
  isStrict?: boolean
}

/**
 * Parses a part of a workbook, and yields after each chunk, so that the caller can take what the handlers have
 * collected.
 * @param part name for messages
 * @throws FileError for malformed XML and for a doctype
 */
export async function* parseXml(
  chunks: AsyncIterable<Uint8Array>,
  part: string,
  handlers: XmlHandlers,
): AsyncGenerator<void> {
  const scanner = createScanner(part, handlers)
  let decoder: TextDecoder | null = null
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOf(chunk))
    scanner.write(decoder.decode(chunk, { stream: true }))
    yield
  }
  if (decoder) scanner.write(decoder.decode())
  scanner.end()
  yield
}

const brokenPart = (part: string) => new FileError(m.imports_error_workbook_broken({ part }))

/** Parts of markup that begin with `<!` or `<?`, by their beginning, with their end. */
const SKIPPED = [
  { begin: '<!--', end: '-->' },
  { begin: '<?', end: '?>' },
]
const CDATA = { begin: '<![CDATA[', end: ']]>' }

function createScanner(part: string, { open, text: onText, close, element, isStrict = false }: XmlHandlers) {
  /** What has not been scanned: an unfinished tag, or text that may end within a reference. */
  let rest = ''
  const opened: string[] = []
  let unbroken = 0
  let isEmpty = true
  const broken = () => brokenPart(part)

  function emit(text: string): void {
    if (text === '' || !onText) return
    onText(text.includes('&') ? decodeReferences(text, part) : text)
  }

  /** True if markup has the beginning of another one. */
  function hasMarkup(source: string, from: number, to: number): boolean {
    const next = source.indexOf('<', from + 1)
    return next >= 0 && next < to
  }

  /** Handles the tag `<…>` between two positions. */
  function tag(source: string, from: number, to: number): void {
    unbroken = 0
    if (isStrict && hasMarkup(source, from, to)) throw broken()
    if (source.charCodeAt(from + 1) === SLASH) {
      const name = source.slice(from + 2, to).trimEnd()
      if (opened.pop() !== name) throw broken()
      close?.(localName(name))
      return
    }
    const isSelfClosing = source.charCodeAt(to - 1) === SLASH
    const end = isSelfClosing ? to - 1 : to
    let nameEnd = from + 1
    while (nameEnd < end && !isSpace(source.charCodeAt(nameEnd))) nameEnd++
    const name = source.slice(from + 1, nameEnd)
    if (name === '' || opened.length >= MAX_DEPTH || (isStrict && NO_NAME.test(name))) throw broken()
    isEmpty = false
    open(localName(name), nameEnd < end ? attributesIn(source, nameEnd, end) : {})
    if (isSelfClosing) close?.(localName(name))
    else opened.push(name)
  }

  function attributesIn(source: string, from: number, to: number): Record<string, string> {
    const attributes: Record<string, string> = {}
    for (let at = from; ; ) {
      while (at < to && isSpace(source.charCodeAt(at))) at++
      if (at >= to) return attributes
      const equals = source.indexOf('=', at)
      if (equals < 0 || equals >= to) throw broken()
      const name = source.slice(at, equals).trimEnd()
      let start = equals + 1
      while (start < to && isSpace(source.charCodeAt(start))) start++
      const quote = source.charCodeAt(start)
      if (quote !== DOUBLE && quote !== SINGLE) throw broken()
      const end = source.indexOf(quote === DOUBLE ? '"' : "'", start + 1)
      if (end < 0 || end >= to) throw broken()
      const value = source.slice(start + 1, end)
      attributes[name] = value.includes('&') ? decodeReferences(value, part) : value
      at = end + 1
    }
  }

  /** Scans a part of markup that is no tag. Returns the position behind it, or -1 if it has not ended yet. */
  function special(source: string, from: number): number {
    if (source.startsWith(CDATA.begin, from)) {
      const end = source.indexOf(CDATA.end, from + CDATA.begin.length)
      if (end < 0) return -1
      if (isStrict && hasMarkup(source, from, end)) throw broken()
      onText?.(source.slice(from + CDATA.begin.length, end))
      return end + CDATA.end.length
    }
    for (const { begin, end: mark } of SKIPPED) {
      if (!source.startsWith(begin, from)) continue
      const end = source.indexOf(mark, from + begin.length)
      if (end < 0) return -1
      if (isStrict && mark === '?>' && hasMarkup(source, from, end)) throw broken()
      return end + mark.length
    }
    // Too short to tell.
    if (source.length - from < CDATA.begin.length) return -1
    throw /^<!doctype/i.test(source.slice(from, from + 9))
      ? new FileError(m.imports_error_workbook_doctype({ part }))
      : broken()
  }

  return {
    write(piece: string): void {
      if (NOT_XML.test(piece)) throw broken()
      const source = rest + piece
      unbroken += piece.length
      let at = 0
      for (;;) {
        const from = source.indexOf('<', at)
        if (from < 0) break
        if (from > at) emit(source.slice(at, from))
        at = from
        const behind = element?.(source, from) ?? -1
        if (behind >= 0) {
          unbroken = 0
          at = behind
          continue
        }
        const next = source.charCodeAt(from + 1)
        if (next === EXCLAMATION || next === QUESTION) {
          const end = special(source, from)
          if (end < 0) break
          at = end
          continue
        }
        const end = tagEnd(source, from + 1)
        if (end < 0) break
        tag(source, from, end)
        at = end + 1
      }
      if (source.charCodeAt(at) !== LESS) {
        const held = heldFrom(source, at)
        emit(source.slice(at, held))
        at = held
      }
      rest = source.slice(at)
      if (unbroken > MAX_UNBROKEN || rest.length > MAX_MARKUP) throw broken()
    },
    end(): void {
      if (isEmpty || opened.length > 0 || rest.trim() !== '') throw broken()
    },
  }
}

const [LESS, SLASH, EXCLAMATION, QUESTION, DOUBLE, SINGLE, GREATER] = [60, 47, 33, 63, 34, 39, 62]
/** Control characters, which XML does not have (XML 1.0, 2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/

/** Characters that no name has. */
const NO_NAME = /[\s"'=]/

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 9 || code === 13

/** The position of the `>` that ends a tag; values of attributes may have others. -1 if it is not there yet. */
function tagEnd(source: string, from: number): number {
  let quote = 0
  for (let at = from; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (quote !== 0) {
      if (code === quote) quote = 0
    } else if (code === GREATER) return at
    else if (code === DOUBLE || code === SINGLE) quote = code
  }
  return -1
}

/** Where a reference begins that the text may end within; otherwise the end of the text. */
function heldFrom(source: string, from: number): number {
  const at = source.lastIndexOf('&')
  const mayEndLater = at >= from && source.length - at < MAX_REFERENCE && !source.includes(';', at)
  return mayEndLater ? at : source.length
}

const NAMED = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
])

/** Replaces the five entities of XML and the numbers of characters. @throws FileError for any other */
export const decodeReferences = (text: string, part: string): string =>
  text.replace(
    /&(?:[^&;]{0,10};)?/g,
    (reference) => NAMED.get(reference) ?? numberedCharacter(reference, part),
  )

function numberedCharacter(reference: string, part: string): string {
  const number = /^&#(?:x([0-9a-f]{1,6})|(\d{1,7}));$/i.exec(reference)
  const code = number ? Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 16 : 10) : -1
  const character = code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  if (character === '' || NOT_XML.test(character)) throw brokenPart(part)
  return character
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
