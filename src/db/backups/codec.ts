import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { z } from 'zod'
import { compress, expand } from './compression.ts'

/** How objects of a store are named, compressed and encrypted. */
export interface Codec {
  readonly isEncrypted: boolean
  /**
   * The name of a chunk, in 32 hexadecimal digits: a keyed checksum of its contents, by which they are found in the
   * store before they are compressed.
   */
  nameOf(bytes: Uint8Array): string
  /** Encrypts compressed bytes for the store. */
  seal(name: string, packed: readonly Uint8Array[]): readonly Uint8Array[]
  /** The contents of a chunk. @throws DamagedObject if they do not fit its name */
  unpack(name: string, stored: Uint8Array): Promise<Uint8Array>
  /** Compresses and encrypts. @param name of the object: another object's contents in its place are detected */
  encode(name: string, bytes: Uint8Array): Promise<Uint8Array>
  /** @throws DamagedObject if it was altered or belongs to another name */
  decode(name: string, stored: Uint8Array): Promise<Uint8Array>
}

/** The contents of an object are not what was stored. */
export class DamagedObject extends Error {
  override readonly name = 'DamagedObject'
}

/** The key of an encrypted store, itself encrypted by a key that is derived from the passphrase. */
export const Encryption = z.strictObject({
  derivation: z.literal('scrypt'),
  /** Parameters of scrypt (RFC 7914): 2^15 blocks of 8 take 32 MB and a tenth of a second per guess. */
  cost: z
    .int()
    .min(2 ** 14)
    .max(2 ** 20),
  blockSize: z.literal(8),
  salt: z.base64(),
  /** Nonce, tag and the encrypted 64 bytes: the keys for contents and names. */
  key: z.base64(),
})
export type Encryption = z.output<typeof Encryption>

const COST = 2 ** 15
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** The key for the names of a store without encryption, which keeps it in its header. */
export const NameKey = z.base64().refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES)

/** A new key for names. */
export const createNameKey = (): string => randomBytes(KEY_BYTES).toString('base64')

/** A new key, encrypted by a passphrase. */
export async function createEncryption(passphrase: string): Promise<Encryption> {
  const salt = randomBytes(16)
  const parameters = {
    derivation: 'scrypt',
    cost: COST,
    blockSize: 8,
    salt: salt.toString('base64'),
  } as const
  const key = Buffer.concat(seal(await derive(passphrase, parameters), [randomBytes(2 * KEY_BYTES)], 'key'))
  return { ...parameters, key: key.toString('base64') }
}

/** In a thread of the runtime: it takes a tenth of a second. */
function derive(passphrase: string, { cost, blockSize, salt }: Omit<Encryption, 'key'>): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const parameters = { N: cost, r: blockSize, p: 1, maxmem: 256 * cost * blockSize }
  scrypt(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, parameters, (error, key) =>
    error ? reject(error) : resolve(key),
  )
  return promise
}

/** What a store tells about its codec. */
export interface CodecSettings {
  /** Null for a store without. */
  encryption: Encryption | null
  /** Of a store without encryption. */
  nameKey?: string | undefined
}

/**
 * The codec of a store.
 *
 * @throws Error for a missing or wrong passphrase, and for one that the store does not have
 */
export async function openCodec(
  { encryption, nameKey }: CodecSettings,
  passphrase: string | null,
): Promise<Codec> {
  if (encryption === null)
    return createCodec({
      isEncrypted: false,
      nameOf: namesUnder(Buffer.from(nameKey ?? '', 'base64')),
      seal: (_name, packed) => packed,
      open: (_name, stored) => stored,
    })
  if (passphrase === null)
    throw new Error(
      'These backups are encrypted: set BACKUP_PASSPHRASE, or name a file with --passphrase-file',
    )
  const keys = open(await derive(passphrase, encryption), Buffer.from(encryption.key, 'base64'), 'key')
  if (keys === null) throw new Error('The passphrase is not the one of these backups')
  const [contents, names] = [keys.subarray(0, KEY_BYTES), keys.subarray(KEY_BYTES)]
  return createCodec({
    isEncrypted: true,
    nameOf: namesUnder(names),
    seal: (name, packed) => seal(contents, packed, name),
    open: (name, stored) => open(contents, stored, name),
  })
}

/**
 * Names are the tags of GMAC (NIST SP 800-38D, a GCM without plaintext), which processors compute ten times faster than
 * SHA-256. Two contents that were chosen without the key have the same tag with a probability of 2^-114. Tags under one
 * nonce give away the key: it is used for nothing else, and in an encrypted store tags are in encrypted objects only.
 */
function namesUnder(key: Uint8Array): Codec['nameOf'] {
  return (bytes) => {
    const cipher = createCipheriv('aes-256-gcm', key, NAME_NONCE).setAAD(bytes)
    cipher.final()
    return cipher.getAuthTag().toString('hex')
  }
}

const NAME_NONCE = Buffer.alloc(NONCE_BYTES)

/** How compressed bytes are named and encrypted. */
interface Protection extends Pick<Codec, 'isEncrypted' | 'nameOf' | 'seal'> {
  /** Null if anything was altered. */
  open(name: string, stored: Uint8Array): Uint8Array | null
}

function createCodec({ isEncrypted, nameOf, seal, open }: Protection): Codec {
  async function decode(name: string, stored: Uint8Array): Promise<Uint8Array> {
    const packed = open(name, stored)
    const bytes = packed && (await expand(packed))
    if (bytes === null) throw new DamagedObject(`${name} is damaged`)
    return bytes
  }
  return {
    isEncrypted,
    nameOf,
    seal,
    async unpack(name, stored) {
      const bytes = await decode(name, stored)
      if (nameOf(bytes) !== name) throw new DamagedObject(`${name} is damaged`)
      return bytes
    },
    encode: async (name, bytes) => Buffer.concat(seal(name, await compress(bytes, 'small'))),
    decode,
  }
}

/** Encrypts and authenticates by AES-256-GCM, with the name as additional data: nonce, tag, ciphertext. */
function seal(key: Buffer, parts: readonly Uint8Array[], name: string): Buffer[] {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name))
  const sealed = [...parts.map((part) => cipher.update(part)), cipher.final()]
  return [nonce, cipher.getAuthTag(), ...sealed]
}

/** Null if the key differs or anything was altered. */
function open(key: Buffer, stored: Uint8Array, name: string): Buffer | null {
  if (stored.length < NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, stored.subarray(0, NONCE_BYTES)).setAAD(
    Buffer.from(name),
  )
  decipher.setAuthTag(stored.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const first = decipher.update(stored.subarray(NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([first, decipher.final()])
  } catch {
    // A wrong key, or altered contents.
    return null
  }
}
