// Sum and maximum of one value a thread over a workgroup. The order of the additions depends on the workgroup's size
// alone: eight threads first add every eighth value, then every thread adds those eight. Both end with a barrier, so
// that they may be called again at once. Call them in uniform control flow.

const leaders: u32 = 8u;
override workgroup_size: u32 = 64u;
var<workgroup> reduce_values: array<f32, workgroup_size>;
var<workgroup> reduce_leaders: array<f32, leaders>;

fn workgroup_sum(thread: u32, value: f32) -> f32 {
  reduce_values[thread] = value;
  workgroupBarrier();
  if (thread < leaders) {
    var sum = 0.0;
    for (var i = thread; i < workgroup_size; i += leaders) {
      sum += reduce_values[i];
    }
    reduce_leaders[thread] = sum;
  }
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < leaders; i++) {
    total += reduce_leaders[i];
  }
  workgroupBarrier();
  return total;
}

fn workgroup_max(thread: u32, value: f32) -> f32 {
  reduce_values[thread] = value;
  workgroupBarrier();
  if (thread < leaders) {
    var largest = reduce_values[thread];
    for (var i = thread + leaders; i < workgroup_size; i += leaders) {
      largest = max(largest, reduce_values[i]);
    }
    reduce_leaders[thread] = largest;
  }
  workgroupBarrier();
  var result = reduce_leaders[0];
  for (var i = 1u; i < leaders; i++) {
    result = max(result, reduce_leaders[i]);
  }
  workgroupBarrier();
  return result;
}
