import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes, scrypt } from 'node:crypto'
import { z } from 'zod'

/** How objects of a store are named, compressed and encrypted. */
export interface Codec {
  readonly isEncrypted: boolean
  /** Compresses and names a chunk: equal contents have the same name, as long as the runtime compresses them alike. */
  pack(bytes: Uint8Array): Promise<PackedChunk>
  /** Encrypts a chunk for the store. */
  seal(chunk: PackedChunk): Uint8Array
  /** The contents of a chunk. @throws DamagedObject if its stored bytes do not fit its name */
  unpack(name: string, stored: Uint8Array): Promise<Uint8Array>
  /** Compresses and encrypts. @param name of the object: another object's contents in its place are detected */
  encode(name: string, bytes: Uint8Array): Promise<Uint8Array>
  /** @throws DamagedObject if it was altered or belongs to another name */
  decode(name: string, stored: Uint8Array): Promise<Uint8Array>
}

export interface PackedChunk {
  /**
   * SHA-256 of the compressed bytes, in 64 hexadecimal digits: they are a few times fewer than the contents, and checked
   * before they are expanded. In an encrypted store its HMAC, which tells nothing of the contents without the key.
   */
  name: string
  packed: Uint8Array
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

/** First byte of an object: how the rest is stored. */
const RAW = 0
const ZSTD = 1
/** The level with the best ratio of speed to size for pages of databases: twice as fast as a disk is read. */
const ZSTD_LEVEL = 1

/** A new key, encrypted by a passphrase. */
export async function createEncryption(passphrase: string): Promise<Encryption> {
  const salt = randomBytes(16)
  const parameters = {
    derivation: 'scrypt',
    cost: COST,
    blockSize: 8,
    salt: salt.toString('base64'),
  } as const
  const key = seal(await derive(passphrase, parameters), randomBytes(2 * KEY_BYTES), 'key')
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

/**
 * The codec of a store.
 *
 * @param encryption null for a store without
 * @throws Error for a missing or wrong passphrase, and for one that the store does not have
 */
export async function openCodec(encryption: Encryption | null, passphrase: string | null): Promise<Codec> {
  if (encryption === null) return plainCodec
  if (passphrase === null)
    throw new Error(
      'These backups are encrypted: set BACKUP_PASSPHRASE, or name a file with --passphrase-file',
    )
  const keys = open(await derive(passphrase, encryption), Buffer.from(encryption.key, 'base64'), 'key')
  if (keys === null) throw new Error('The passphrase is not the one of these backups')
  const [contents, names] = [keys.subarray(0, KEY_BYTES), keys.subarray(KEY_BYTES)]
  return createCodec({
    isEncrypted: true,
    nameOf: (packed) => createHmac('sha256', names).update(packed).digest('hex'),
    seal: (name, packed) => seal(contents, packed, name),
    open: (name, stored) => open(contents, stored, name),
  })
}

/** How packed bytes are named and encrypted. */
interface Protection extends Pick<Codec, 'isEncrypted'> {
  nameOf(packed: Uint8Array): string
  seal(name: string, packed: Uint8Array): Uint8Array
  /** Null if anything was altered. */
  open(name: string, stored: Uint8Array): Uint8Array | null
}

function createCodec({ isEncrypted, nameOf, seal, open }: Protection): Codec {
  const opened = (name: string, stored: Uint8Array): Uint8Array => {
    const packed = open(name, stored)
    if (packed === null) throw new DamagedObject(`${name} is damaged`)
    return packed
  }
  return {
    isEncrypted,
    async pack(bytes) {
      const packed = await compress(bytes)
      return { name: nameOf(packed), packed }
    },
    seal: ({ name, packed }) => seal(name, packed),
    async unpack(name, stored) {
      const packed = opened(name, stored)
      if (nameOf(packed) !== name) throw new DamagedObject(`${name} is damaged`)
      return expand(name, packed)
    },
    encode: async (name, bytes) => seal(name, await compress(bytes)),
    decode: async (name, stored) => expand(name, opened(name, stored)),
  }
}

const plainCodec = createCodec({
  isEncrypted: false,
  nameOf: (packed) => hash('sha256', packed, 'hex'),
  seal: (_name, packed) => packed,
  open: (_name, stored) => stored,
})

const source = (bytes: Uint8Array) => bytes as Uint8Array<ArrayBuffer>

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = await Bun.zstdCompress(source(bytes), { level: ZSTD_LEVEL })
  const [how, body] = packed.length < bytes.length ? [ZSTD, packed] : [RAW, bytes]
  const stored = new Uint8Array(1 + body.length)
  stored[0] = how
  stored.set(body, 1)
  return stored
}

async function expand(name: string, stored: Uint8Array): Promise<Uint8Array> {
  const body = stored.subarray(1)
  if (stored[0] === RAW) return body
  if (stored[0] !== ZSTD) throw new DamagedObject(`${name} is damaged`)
  try {
    return await Bun.zstdDecompress(source(body))
  } catch (error) {
    throw new DamagedObject(`${name} is damaged`, { cause: error })
  }
}

/** Encrypts and authenticates by AES-256-GCM, with the name as additional data: nonce, tag, ciphertext. */
function seal(key: Buffer, bytes: Uint8Array, name: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name))
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
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
