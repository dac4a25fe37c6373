/** What the browser offers for computing on the GPU, before a device is opened. */
export interface AdapterDescription {
  readonly available: boolean;
  /** Vendor, architecture and description as the browser tells them; empty when unavailable. */
  readonly adapter: string;
  /** An adapter that runs on the CPU (right but slow). */
  readonly software: boolean;
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  /** Why there is none, as a clause that can follow “because”. */
  readonly reason?: string;
}

/** Names by which software adapters call themselves: Chrome's SwiftShader, Mesa's llvmpipe and lavapipe, Windows' WARP. */
const SOFTWARE_NAMES = /swiftshader|llvmpipe|lavapipe|\bwarp\b|basic render|software|\bcpu\b/i;

type AdapterInfo = Pick<GPUAdapterInfo, 'vendor' | 'architecture' | 'device' | 'description'> & { readonly isFallbackAdapter?: boolean };

export function adapterName(info: AdapterInfo): string {
  const words = [info.vendor, info.architecture, info.description || info.device].filter((word) => word !== '');
  return words.length > 0 ? words.join(' ') : 'unnamed adapter';
}

export function isSoftware(info: AdapterInfo): boolean {
  return info.isFallbackAdapter === true || SOFTWARE_NAMES.test(adapterName(info));
}

/** Looks at the adapter a backend would get; `gpu` stands in for `navigator.gpu` outside browsers. Never throws. */
export async function describeAdapter(gpu?: GPU): Promise<AdapterDescription> {
  const source = gpu ?? (typeof navigator === 'undefined' ? undefined : navigator.gpu);
  if (!source) return none('this browser has no WebGPU');
  try {
    const adapter = await source.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) return none('the browser offers no GPU adapter');
    return {
      available: true,
      adapter: adapterName(adapter.info),
      software: isSoftware(adapter.info),
      features: [...adapter.features].sort(),
      limits: limitsOf(adapter.limits),
    };
  } catch (thrown) {
    return none(`asking for a GPU adapter failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

function none(reason: string): AdapterDescription {
  return { available: false, adapter: '', software: false, features: [], limits: {}, reason };
}

/** The limits live on the prototype as getters, so spreading the object would lose them. */
function limitsOf(limits: GPUSupportedLimits): Record<string, number> {
  const out: Record<string, number> = {};
  for (const name in limits) {
    const value: unknown = Reflect.get(limits, name);
    if (typeof value === 'number') out[name] = value;
  }
  return out;
}
