import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Cell } from '../../../cells/cell.ts'

/** The cells whose editors forms use, each in a part of its own: a page loads those of its own questions. */
const LOADERS: Partial<Record<FieldTypeName, () => Promise<Cell>>> = {
  SingleLineText: async () => (await import('../../../cells/single-line-text.tsx')).singleLineTextCell,
  LongText: async () => (await import('../../../cells/long-text.tsx')).longTextCell,
  Number: async () => (await import('../../../cells/number.tsx')).numberTypeCell,
  Decimal: async () => (await import('../../../cells/decimal.tsx')).decimalCell,
  Currency: async () => (await import('../../../cells/currency.tsx')).currencyCell,
  Percent: async () => (await import('../../../cells/percent.tsx')).percentCell,
  Duration: async () => (await import('../../../cells/duration.tsx')).durationCell,
  MultiSelect: async () => (await import('../../../cells/multi-select.tsx')).multiSelectCell,
  Date: async () => (await import('../../../cells/date.tsx')).dateCell,
  DateTime: async () => (await import('../../../cells/date-time.tsx')).dateTimeCell,
  Year: async () => (await import('../../../cells/year.tsx')).yearCell,
  Time: async () => (await import('../../../cells/time.tsx')).timeCell,
  User: async () => (await import('../../../cells/user.tsx')).userCell,
  Collaborator: async () => (await import('../../../cells/collaborator.tsx')).collaboratorCell,
  Email: async () => (await import('../../../cells/email.tsx')).emailCell,
  URL: async () => (await import('../../../cells/url.tsx')).urlCell,
  PhoneNumber: async () => (await import('../../../cells/phone-number.tsx')).phoneNumberCell,
  JSON: async () => (await import('../../../cells/json.tsx')).jsonCell,
  GeoData: async () => (await import('../../../cells/geo-data.tsx')).geoDataCell,
  Geometry: async () => (await import('../../../cells/geometry.tsx')).geometryCell,
  SpecificDBType: async () => (await import('../../../cells/specific-db-type.tsx')).specificDbTypeCell,
  Password: async () => (await import('../../../cells/password.tsx')).passwordCell,
}

const loaded = new Map<FieldTypeName, Cell>()

/** The cell of a type once `loadCells` has brought it; undefined for types that are asked for in another way. */
export const loadedCell = (type: FieldTypeName): Cell | undefined => loaded.get(type)

/** Brings the editors of these types, so that a form is drawn whole and nothing jumps. */
export async function loadCells(types: Iterable<FieldTypeName>): Promise<void> {
  await Promise.all(
    [...new Set(types)].map(async (type) => {
      const load = loaded.has(type) ? undefined : LOADERS[type]
      if (load) loaded.set(type, await load())
    }),
  )
}
