/** Models that come with the program, in `models/<id>/` beside the page. */
export const SHIPPED_MODELS = ['nacre-tiny'] as const;
export type ShippedModel = (typeof SHIPPED_MODELS)[number];

export function isShipped(id: string): id is ShippedModel {
  return SHIPPED_MODELS.some((shipped) => shipped === id);
}
