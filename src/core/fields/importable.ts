import { type FieldTypeName, fieldType } from './index.ts'

/**
 * True where a file can fill fields of the type. The server fills the others, or somebody sets them one by one: a
 * password is hashed, and a key is part of its link.
 */
export function isImportable(name: FieldTypeName): boolean {
  const { readOnly, systemColumn, computed, internal, isSecret, storage } = fieldType(name)
  const isServers = readOnly || systemColumn !== undefined || computed !== undefined || storage === 'id'
  return !isServers && !internal && !isSecret
}

/** True where people are offered the type for a new field that a file fills. */
export const isOfferedForImport = (name: FieldTypeName): boolean =>
  isImportable(name) && !fieldType(name).forPrograms
