import { isAbsolute, resolve } from 'node:path'
import type { S3Settings } from '../../../storage/index.ts'
import type { BackupStore } from './backup-store.ts'
import { openFolderStore } from './folder-store.ts'
import { openS3Store } from './s3-store.ts'

export type { BackupStore } from './backup-store.ts'

/** The address of a store, and the access to its server if it has one. */
export interface BackupTarget extends Omit<S3Settings, 's3Bucket'> {
  /** `file:/mnt/backups`, a path, or `s3://bucket/prefix`. */
  url: string
}

/** Opens a store by the scheme of its address. Nothing is created until something is stored. */
const OPENERS: Record<string, (address: string, target: BackupTarget) => BackupStore> = {
  's3:': (address, target) => {
    const [bucket = '', ...rest] = address.replace(/^\/\//, '').split('/')
    const prefix = rest.filter((name) => name !== '').join('/')
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || !/^[\w.\-/]*$/.test(prefix))
      throw new Error(`“${target.url}” is not the address of a bucket: s3://bucket or s3://bucket/folder`)
    return openS3Store({ ...target, s3Bucket: bucket }, prefix)
  },
  'file:': (address, { url }) => {
    const path = address.replace(/^\/\/(?=\/)/, '')
    if (path === '' || path.startsWith('//')) throw new Error(`“${url}” does not name a folder: file:/path`)
    return openFolderStore(isAbsolute(path) ? path : resolve(path))
  },
}

/** @throws Error for an address that is neither a folder nor a bucket */
export function openBackupStore(target: BackupTarget): BackupStore {
  const { url } = target
  const [, scheme = 'file:', address = url] = /^([a-z][a-z0-9+.-]+:)(.*)$/.exec(url) ?? []
  const opener = Object.hasOwn(OPENERS, scheme) ? OPENERS[scheme] : undefined
  if (!opener || address === '')
    throw new Error(
      `“${url}” is not a place for backups: name a folder (file:/path) or a bucket (s3://bucket/folder)`,
    )
  return opener(address, target)
}
