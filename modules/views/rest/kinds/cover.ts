import { z } from 'zod'
import type { MetaKeys } from './wire-kind.ts'

/** How a cover fills its place, under the name that clients know. */
export const COVER_META = { fk_cover_image_object_fit: 'coverFit' } as const satisfies MetaKeys

/** Clients call a cover that fills its place `cover`; `crop` is understood too. */
export const coverFit = z.enum(['fit', 'cover', 'crop']).transform((fit) => (fit === 'fit' ? 'fit' : 'crop'))

/** The same as clients write it. */
export const wireCoverFit = (fit: 'fit' | 'crop'): string => (fit === 'fit' ? 'fit' : 'cover')
