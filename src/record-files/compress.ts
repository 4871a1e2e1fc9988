import { constants, crc32, deflateRawSync } from 'node:zlib'

/** Little to compress with: sheets shrink to a twentieth all the same. */
const LEVEL = 3

/** A piece of a compressed stream. */
interface Compressed {
  bytes: Uint8Array<ArrayBuffer>
  /** Bytes before the compression. */
  size: number
  /** CRC-32 of these. */
  crc: number
}

const encoder = new TextEncoder()

/**
 * Compresses a piece of a file on its own. The pieces of a file, one after the other, are one DEFLATE stream (RFC 1951),
 * because each ends at a byte: all but the last with an empty stored block.
 */
export function compress(content: string | Uint8Array, isLast = false): Compressed {
  const plain = typeof content === 'string' ? encoder.encode(content) : content
  const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH
  const bytes = new Uint8Array(deflateRawSync(plain, { level: LEVEL, finishFlush }))
  return { bytes, size: plain.length, crc: crc32(plain) }
}

/** The polynomial of CRC-32 (RFC 1952) without its highest power; the highest bit is the coefficient of 1. */
const POLYNOMIAL = 0xedb88320

/** The product of two polynomials over GF(2) modulo the one of CRC-32. */
function multiply(a: number, b: number): number {
  let [product, shifted] = [0, b]
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product
}

/** x to the power of 8, 16, 32, …: of one byte, two, four. */
const POWERS = Array.from({ length: 32 }, (_, at) => at).reduce<number[]>((powers, at) => {
  const before = powers[at - 1]
  powers.push(before === undefined ? 1 << 23 : multiply(before, before))
  return powers
}, [])

/** The CRC-32 of two pieces of a file in a row, from those of the pieces. @param size of the second piece, in bytes */
export function combineCrc(first: number, second: number, size: number): number {
  let shifted = first
  // A byte that follows multiplies the remainder of what is before it by x⁸.
  for (let [rest, at] = [size, 0]; rest > 0; rest = Math.floor(rest / 2), at++)
    if (rest % 2 === 1) shifted = multiply(POWERS[at] ?? 0, shifted)
  return (shifted ^ second) >>> 0
}
