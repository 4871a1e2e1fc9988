import * as z from 'zod/mini'
import type { Field } from '../fields/field.ts'
import { m } from '../messages.gen.ts'
import { fitOrNull, type ViewKindDefinition, valueTypeOf, wrongType } from './view-kind.ts'

const mapOptions = z.strictObject({
  /** The location field; null: not chosen yet. */
  geoFieldId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
})
export type MapOptions = z.output<typeof mapOptions>

/** True for a field whose values are locations. */
export const isLocationField = (field: Field): boolean =>
  valueTypeOf(field)?.isLocation === true && field.result?.isList !== true

/** Records as pins on a map. */
export const map: ViewKindDefinition<MapOptions> = {
  kind: 'map',
  wireNumber: 5,
  label: 'Map',
  options: mapOptions,
  defaults: (fields) => ({ geoFieldId: fields.find(isLocationField)?.id ?? null }),
  fieldIds: ({ geoFieldId }) => (geoFieldId === null ? [] : [geoFieldId]),
  prune: (options, field) => ({
    ...options,
    geoFieldId: fitOrNull(options.geoFieldId, field, isLocationField),
  }),
  problem: ({ geoFieldId }, field) =>
    wrongType([geoFieldId], field, isLocationField, m.view_error_not_location),
  setup: {
    read: ({ geoFieldId }) => ({ fieldId: geoFieldId, toFieldId: null }),
    write: ({ fieldId }) => ({ geoFieldId: fieldId }),
  },
  hasManualOrder: false,
  shownAtFirst: 5,
}
